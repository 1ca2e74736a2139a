import { isIP } from 'node:net';

import * as z from 'zod';

import { readInteger } from './read-integer.ts';

/** What a reader of a service's configuration wants to know of one variable. */
export interface VariableFacts {
  /** What it decides: half a sentence. */
  readonly meaning: string;
  /** What holds when it is not set, as it would be written into the environment. Default: nothing. */
  readonly fallback?: string;
  /** What one of it is, where the value is a number: `ms`, `bytes`. */
  readonly unit?: string;
  /** A secret is never shown, and may come from the file that its name followed by `_FILE` names. */
  readonly isSecret?: boolean;
  /** Whether a bad value may be repeated in a message. Default true; no secret is. */
  readonly isQuotable?: boolean;
}

const registry = z.registry<VariableFacts>();

/** Says what `schema` reads: the form to add a variable of a kind that is not here. */
export function variable<Schema extends z.ZodType>(schema: Schema, facts: VariableFacts): Schema {
  registry.add(schema, facts);
  return schema;
}

/** @throws {TypeError} if nobody said what `schema` reads */
export function factsOf(name: string, schema: z.ZodType): VariableFacts {
  const facts = registry.get(schema);
  if (!facts) throw new TypeError(`Cannot describe ${name}: expected a schema made by variable()`);
  return facts;
}

export interface IntegerOptions {
  readonly from: number;
  readonly to: number;
  readonly fallback: number;
  readonly meaning: string;
  readonly unit?: string;
}

/** An integer in the form that `readInteger` reads. */
export function integer({ from, to, fallback, ...facts }: IntegerOptions): z.ZodType<number> {
  const isInRange = (text: string) => {
    const value = readInteger(text);
    return value !== undefined && value >= from && value <= to;
  };
  const schema = z
    .string()
    .refine(isInRange, `must be an integer from ${from} to ${to}`)
    .transform(Number)
    .default(fallback);
  return variable(schema, { ...facts, fallback: String(fallback) });
}

export interface TextOptions {
  readonly meaning: string;
  readonly fallback: string;
  /** The fallback for a reader, where it is not the same on every machine. Default: itself. */
  readonly shownAs?: string;
}

/** Any text. */
export function text({ fallback, meaning, shownAs }: TextOptions): z.ZodType<string> {
  return variable(z.string().default(fallback), { fallback: shownAs ?? fallback, meaning });
}

/** Any text, or `undefined`. */
export function optionalText(facts: { readonly meaning: string }): z.ZodType<string | undefined> {
  return variable(z.string().optional(), facts);
}

export interface OneOfOptions<Word extends string> {
  readonly words: readonly [Word, ...Word[]];
  readonly fallback: NoInfer<Word>;
  readonly meaning: string;
}

/** One of a few words. */
export function oneOf<Word extends string>(options: OneOfOptions<Word>): z.ZodType<Word> {
  const { words, fallback, meaning } = options;
  const schema = z.enum(words, `must be one of ${words.join(', ')}`).default(() => fallback);
  return variable(schema, { fallback, meaning });
}

/** No host names: looking one up may take longer than a start may fail. */
export function address({ fallback, meaning }: Omit<TextOptions, 'shownAs'>): z.ZodType<string> {
  const schema = z
    .string()
    .refine(
      (host) => isIP(host) !== 0 || host === 'localhost',
      'must be an IP address or localhost',
    )
    .default(fallback);
  return variable(schema, { fallback, meaning });
}

export interface UrlOptions {
  readonly meaning: string;
  readonly fallback?: string;
  /** With their colon: `https:`. */
  readonly protocols: readonly [string, ...string[]];
}

/** A URL of one of `protocols`; `undefined` when it is not set and has no `fallback`. */
export function url(options: UrlOptions & { readonly fallback: string }): z.ZodType<string>;
export function url(options: UrlOptions): z.ZodType<string | undefined>;
export function url({ protocols, fallback, meaning }: UrlOptions): z.ZodType<string | undefined> {
  // A URL may hold a password.
  const facts = { meaning, isQuotable: false };
  if (fallback === undefined) return variable(urlOf(protocols).optional(), facts);
  return variable(urlOf(protocols).default(fallback), { ...facts, fallback });
}

export interface SecretOptions {
  readonly meaning: string;
  /** Default 1. */
  readonly leastBytes?: number;
  /** Of a secret that is a URL, with their colon: `postgres:`. */
  readonly protocols?: readonly [string, ...string[]];
}

/** A text that is never shown, or `undefined`; also read from the file that `<name>_FILE` names. */
export function secret(options: SecretOptions): z.ZodType<string | undefined> {
  const { meaning, leastBytes = 1, protocols } = options;
  const schema = protocols
    ? urlOf(protocols)
    : z
        .string()
        .refine(
          (value) => Buffer.byteLength(value) >= leastBytes,
          `must have at least ${leastBytes} bytes`,
        );
  return variable(schema.optional(), { meaning, isSecret: true, isQuotable: false });
}

function urlOf(protocols: readonly string[]): z.ZodString {
  return z
    .string()
    .refine(
      (value) => protocols.includes(URL.parse(value)?.protocol ?? ''),
      `must be a URL that begins with ${protocols.map((protocol) => `${protocol}//`).join(' or ')}`,
    );
}
