import { isIP } from 'node:net';

import * as z from 'zod';

import { readInteger } from './read-integer.ts';

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
