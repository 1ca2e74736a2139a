import type { Options } from 'k6/options';

/** Options of every script. */
export const COMMON: Options = {
  summaryTrendStats: ['med', 'p(95)', 'p(99)', 'max'],
  userAgent: 'fw-load',
};

/** Multiplies the latency objectives, for slow machines and long distances. */
export const LATENCY_FACTOR = Number(__ENV.LATENCY_FACTOR || 1);
if (!(LATENCY_FACTOR > 0 && Number.isFinite(LATENCY_FACTOR))) {
  throw new RangeError(`LATENCY_FACTOR is "${__ENV.LATENCY_FACTOR}": expected a number above 0`);
}

/** Reads `DURATION`. @throws {RangeError} if it is not a form such as `30s` */
export function readDuration(fallback: string): string {
  const text = __ENV.DURATION || fallback;
  if (!/^[1-9]\d*[smh]$/.test(text)) {
    throw new RangeError(`DURATION is "${text}": expected a form such as "30s" or "5m"`);
  }
  return text;
}

/** Reads a number such as `RATE`. @throws {RangeError} if it is not a whole number from 1 to 10000 */
export function readCount(name: string, fallback: number): number {
  const count = Number(__ENV[name] || fallback);
  if (!(Number.isInteger(count) && count >= 1 && count <= 10_000)) {
    throw new RangeError(`${name} is "${__ENV[name]}": expected a whole number from 1 to 10000`);
  }
  return count;
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600 } as const;

/** The seconds of a duration such as `30s` or `5m`, in the form that `readDuration` accepts. */
export function secondsOf(duration: string): number {
  return Number.parseInt(duration, 10) * UNIT_SECONDS[duration.at(-1) as keyof typeof UNIT_SECONDS];
}
