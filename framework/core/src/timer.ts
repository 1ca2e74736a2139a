/** Timers that are set for longer fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** @throws {TypeError} if `value` is not a time that a timer can measure */
export function requireMilliseconds(option: string, value: number): void {
  if (value >= 0 && value <= MAX_TIMER_MS) return;
  throw new TypeError(
    `Cannot read option ${option} "${value}": expected 0 to ${MAX_TIMER_MS} milliseconds`,
  );
}
