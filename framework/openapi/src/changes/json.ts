import { isRecord, lookUp } from '@fw/core/schema';

/** An object of a JSON document. */
export type Json = Readonly<Record<string, unknown>>;

/** Two states of a value: in the older and in the newer document. */
export interface Pair<T> {
  readonly before: T;
  readonly after: T;
}

/** The result of `read` for both states. */
export function mapPair<T, U>({ before, after }: Pair<T>, read: (value: T) => U): Pair<U> {
  return { before: read(before), after: read(after) };
}

/** `value` if it is an object, else an empty one. */
export function readRecord(value: unknown): Json {
  return isRecord(value) ? value : {};
}

export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The object that `value` is, or refers to. */
export function resolve(document: Json, value: unknown): Json {
  const { $ref } = readRecord(value);
  return readRecord(typeof $ref === 'string' ? lookUp(document, $ref) : value);
}

/** The objects that both values are, or refer to, each in its document. */
export function resolveBoth(documents: Pair<Json>, { before, after }: Pair<unknown>): Pair<Json> {
  return { before: resolve(documents.before, before), after: resolve(documents.after, after) };
}

/** Whether two JSON values are equal, regardless of the order of keys. */
export function isSame(left: unknown, right: unknown): boolean {
  return print(left) === print(right);
}

/** A JSON value as text, with sorted keys; `none` if it is undefined. */
export function print(value: unknown): string {
  return value === undefined ? 'none' : JSON.stringify(value, sortKeys);
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
