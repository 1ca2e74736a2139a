const UNIT_MS = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
]);
/** A year: longer times in milliseconds would lose fractions that the algorithms need. */
const MAX_WINDOW_MS = 366 * 86_400_000;

/**
 * Reads a window such as `30s` or `1m`, or a number of milliseconds, in milliseconds; `undefined` if it
 * is not a positive whole number, followed by ms, s, m, h or d where it is text, or longer than a year.
 */
export function readDuration(window: unknown): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d*)([a-z]+)$/.exec(String(window)) ?? [];
  const windowMs =
    typeof window === 'number' ? window : Number(count) * (UNIT_MS.get(unit) ?? Number.NaN);
  const isDuration = Number.isSafeInteger(windowMs) && windowMs > 0 && windowMs <= MAX_WINDOW_MS;
  return isDuration ? windowMs : undefined;
}
