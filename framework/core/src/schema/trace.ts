import { opaqueTypeOf, pointerOf } from './stringify.ts';

/** Where and how a value differs from its schema. */
export interface Violation {
  /** A JSON Pointer (RFC 6901). */
  readonly pointer: string;
  readonly problem: string;
}

/** Deeper values are not copied: an object may contain itself. */
export const MAX_DEPTH = 200;

/** What the generated code of a serializer knows about one value. */
export class Trace {
  /** The keys on the way to the current part; those from the current depth on are out of date. */
  readonly path: (string | number)[] = [];
  /** The first violation. */
  violation: Violation | undefined = undefined;

  /** Records a violation of the part at `depth`, or of its field `key`. */
  fail(problem: string, depth: number, key?: string): void {
    if (this.violation) return;
    const keys = [...this.path.slice(0, depth), ...(key === undefined ? [] : [key])];
    this.violation = { pointer: pointerOf(keys), problem };
  }

  /** The part to send of a value with another type: an object may contain undeclared fields. */
  mismatch(value: unknown, expected: string, depth: number): unknown {
    this.fail(
      value === undefined ? 'is missing' : `is ${typeOf(value)}, expected ${expected}`,
      depth,
    );
    return typeof value === 'object' && value !== null ? undefined : value;
  }

  /** Whether `value`, which should be an object with fields, is a Map or another object without. */
  isOpaque(value: object): boolean {
    return opaqueTypeOf(value) !== undefined;
  }

  /** @throws {TypeError} as `JSON.stringify` does for an object that contains itself */
  rejectDepth(): never {
    throw new TypeError(`Cannot send a value that is nested more than ${MAX_DEPTH} levels deep`);
  }

  /** Sets a field whose name the value determines; `__proto__` is a name like any other. */
  set(target: object, key: string, value: unknown): void {
    if (key !== '__proto__') Reflect.set(target, key, value);
    else Object.defineProperty(target, key, { value, enumerable: true });
  }

  /** `value`, or the result of its `toJSON()`, as `JSON.stringify` calls it. */
  jsonOf(value: object, depth: number): unknown {
    const { toJSON } = value as { readonly toJSON?: unknown };
    return typeof toJSON === 'function'
      ? Reflect.apply(toJSON, value, [depth === 0 ? '' : String(this.path[depth - 1])])
      : value;
  }
}

/** A JSON type with its article. */
export function withArticle(type: string): string {
  if (type === 'null') return type;
  return `${/^[aio]/.test(type) ? 'an' : 'a'} ${type}`;
}

/** The JSON type of a value; `NaN` and infinite numbers have none. */
function typeOf(value: unknown): string {
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (value === null) return 'null';
  const opaque = typeof value === 'object' ? opaqueTypeOf(value) : undefined;
  if (opaque) return `of the type ${opaque.name} (${opaque.remedy})`;
  return withArticle(Array.isArray(value) ? 'array' : typeof value);
}
