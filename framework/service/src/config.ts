import { isIP } from 'node:net';

import { z } from 'zod';

/**
 * Reads a service's configuration from the environment: typed, frozen, and all that is wrong with it
 * told at once. A variable that is set to nothing counts as not set.
 *
 * ```ts
 * const config = readConfig({ ...serviceVariables({ port: 8081 }) }, process.env);
 * ```
 *
 * @throws {Error} whose message names each bad variable
 */
export function readConfig<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: NodeJS.ProcessEnv,
): Readonly<z.output<z.ZodObject<Shape>>> {
  const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== '';
  const result = z.object(shape).safeParse(Object.fromEntries(Object.entries(env).filter(isSet)));
  if (result.success) return Object.freeze(result.data);
  const complaints = result.error.issues.map(({ path, message }) => {
    const name = path.join('.');
    const value = env[name];
    return value ? `${name} ${message}, got ${quote(value)}` : `${name} is missing: it ${message}`;
  });
  throw new Error(complaints.join('; '));
}

/** What every service reads: where it listens, how it drains, whose headers it believes. */
export function serviceVariables({ port }: { readonly port: number }) {
  return {
    HOST: address('127.0.0.1'),
    PORT: integer({ from: 0, to: 65_535, fallback: port }),
    HEALTH_PORT: integer({ from: 0, to: 65_535, fallback: 9090 }),
    DRAIN_DELAY_MS: integer({ from: 0, to: 8_000, fallback: 1_000 }),
    TRUST_PROXY: integer({ from: 0, to: 100, fallback: 0 }),
    NODE_ENV: oneOf(['production', 'development', 'test'], 'production'),
  };
}

/** The values of `serviceVariables`. */
export type ServiceConfig = Readonly<z.output<z.ZodObject<ReturnType<typeof serviceVariables>>>>;

/** A whole number in decimal digits; `fallback` when it is not set. */
export function integer(range: {
  readonly from: number;
  readonly to: number;
  readonly fallback: number;
}) {
  const isInRange = (text: string) =>
    /^\d{1,15}$/.test(text) && Number(text) >= range.from && Number(text) <= range.to;
  return z
    .string()
    .refine(isInRange, `must be an integer from ${range.from} to ${range.to}`)
    .transform(Number)
    .default(range.fallback);
}

/** Any text; `fallback` when it is not set. */
export function text(fallback: string) {
  return z.string().default(fallback);
}

/** Any text, or `undefined`. */
export function optionalText() {
  return z.string().optional();
}

/** One of a few words; `fallback` when it is not set. */
export function oneOf<Word extends string>(words: readonly [Word, ...Word[]], fallback: Word) {
  return z.enum(words, `must be one of ${words.join(', ')}`).default(() => fallback);
}

/** No host names: looking one up may take longer than a start may fail. */
function address(fallback: string) {
  return z
    .string()
    .refine(
      (host) => isIP(host) !== 0 || host === 'localhost',
      'must be an IP address or localhost',
    )
    .default(fallback);
}

/** `value` on one line, cut short. */
function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
