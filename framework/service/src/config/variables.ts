import { isIP } from 'node:net';

import * as z from 'zod';

/**
 * Reads an integer in canonical decimal form: an optional minus sign and digits without leading zeros.
 * Returns `undefined` for any other text, such as `""`, `0x10`, `1e3`, `1.0`, `+1` or `007`, and for
 * integers that a number cannot represent exactly.
 */
export function readInteger(text: string): number | undefined {
  if (!/^(?:0|-?[1-9]\d{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}

/** An integer from `from` to `to`, in the form that `readInteger` reads. */
export function integer(from: number, to: number) {
  const error = `must be an integer from ${from} to ${to}`;
  return z.preprocess(
    (value) => (typeof value === 'string' ? readInteger(value) : value),
    z.int(error).min(from, error).max(to, error),
  );
}

/** One of a few words. */
export function oneOf<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words, `must be one of ${words.join(', ')}`);
}

/** A day in the form `2027-12-31`. */
export function day() {
  return z.iso.date({ error: 'must be a day such as 2027-12-31', abort: true });
}

/** A URL with one of `protocols`, such as `https`. Error messages do not repeat it: it may have a password. */
export function url(...protocols: readonly [string, ...string[]]) {
  const starts = protocols.map((protocol) => `${protocol}://`).join(' or ');
  const protocol = new RegExp(`^(?:${protocols.join('|')})$`);
  return z.url({ protocol, error: `must be a URL that begins with ${starts}` });
}

/** An address to listen on. Host names are rejected, because looking one up may fail after the start. */
export function address() {
  return z
    .string()
    .refine(
      (host) => isIP(host) !== 0 || host === 'localhost',
      'must be an IP address or localhost',
    );
}

/** The variables of any configuration: the schema of each, by name. */
export type AnyVariables = Readonly<Record<string, z.ZodType>>;

/** One variable of a service, for the person or the program that sets it. */
export interface VariableDescription {
  readonly name: string;
  /** As it would be written into the environment. */
  readonly default?: string;
  readonly unit?: string;
  readonly meaning: string;
  /** Never shown; may come from the file that `<name>_FILE` names. */
  readonly secret: boolean;
}

/** Describes `variables` in their order, from the JSON Schemas of their values. */
export function describeVariables(variables: AnyVariables): VariableDescription[] {
  const { properties = {} } = z.toJSONSchema(z.object(variables), { unrepresentable: 'any' });
  return Object.entries(properties).map(([name, schema]) => {
    const { default: value, description = '', unit, secret = false } = Object(schema);
    return {
      name,
      ...(value !== undefined && { default: String(value) }),
      ...(unit && { unit }),
      meaning: description,
      secret,
    };
  });
}
