/** The variables of README.md, such as `DURATION` and `RATE`. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `DURATION`. @throws {RangeError} if it is not a form such as `30s` */
export function readDuration(env: Environment, fallback: string): string {
  const text = env.DURATION || fallback;
  if (!/^[1-9]\d*[smh]$/.test(text)) {
    throw new RangeError(`DURATION is "${text}": expected a form such as "30s" or "5m"`);
  }
  return text;
}

/** Reads a number such as `RATE`. @throws {RangeError} if it is not a whole number from 1 to 10000 */
export function readCount(env: Environment, name: string, fallback: number): number {
  const count = Number(env[name] || fallback);
  if (!(Number.isInteger(count) && count >= 1 && count <= 10_000)) {
    throw new RangeError(`${name} is "${env[name]}": expected a whole number from 1 to 10000`);
  }
  return count;
}

/** Reads `RETRY_SECONDS`; 0 without it. @throws {RangeError} if it is not a whole number from 1 to 10000 */
export function readRetrySeconds(env: Environment): number {
  return env.RETRY_SECONDS ? readCount(env, 'RETRY_SECONDS', 0) : 0;
}

/** Reads `LATENCY_FACTOR`. @throws {RangeError} if it is not a number above 0 */
export function readFactor(env: Environment): number {
  const factor = Number(env.LATENCY_FACTOR || 1);
  if (!(factor > 0 && Number.isFinite(factor))) {
    throw new RangeError(`LATENCY_FACTOR is "${env.LATENCY_FACTOR}": expected a number above 0`);
  }
  return factor;
}

const UNIT_SECONDS = { s: 1, m: 60, h: 3_600 } as const;

/** The seconds of a duration such as `30s` or `5m`, in the form that `readDuration` accepts. */
export function secondsOf(duration: string): number {
  return Number.parseInt(duration, 10) * UNIT_SECONDS[duration.at(-1) as keyof typeof UNIT_SECONDS];
}
