const never = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread, including its event loop. */
export function pauseThread(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}
