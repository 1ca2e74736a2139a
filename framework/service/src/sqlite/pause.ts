const never = new Int32Array(new SharedArrayBuffer(4));

/** Waits without the event loop: nothing else happens in this process meanwhile. */
export function pauseThread(ms: number): void {
  Atomics.wait(never, 0, 0, ms);
}
