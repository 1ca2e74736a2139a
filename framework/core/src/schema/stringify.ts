/** Built-in objects whose JSON would be `{}`, and what to send instead. */
const OPAQUE: readonly (readonly [tag: RegExp, remedy: string])[] = [
  [/^Map$/, 'use Object.fromEntries(map)'],
  [/^Set$/, 'use [...set]'],
  [/^Promise$/, 'await it'],
  [/^(?:.+ Iterator|Iterator Helper|Generator)$/, 'use [...iterator]'],
  [/^AsyncGenerator$/, 'use await Array.fromAsync(iterator)'],
  [/^(?:URLSearchParams|FormData|Headers)$/, 'use Object.fromEntries(value)'],
  [/^(?:ArrayBuffer|SharedArrayBuffer)$/, 'use Buffer.from(buffer)'],
  [/^DataView$/, 'use Buffer.from(view.buffer, view.byteOffset, view.byteLength)'],
  [/^RegExp$/, 'use String(value)'],
  [/^(?:Response|Request|Blob|File)$/, 'use await value.text()'],
  [/^(?:ReadableStream|WeakMap|WeakSet|WeakRef)$/, 'send its values'],
];

interface Opaque {
  readonly name: string;
  readonly remedy: string;
}

/** The type of an object whose JSON would be `{}` although it has content; else `undefined`. */
export function opaqueTypeOf(value: object): Opaque | undefined {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === Array.prototype) return undefined;
  if (Object.keys(value).length > 0) return undefined; // its JSON is not {}
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1);
  const remedy = OPAQUE.find(([tag]) => tag.test(name))?.[1];
  return remedy === undefined ? undefined : { name, remedy };
}

/**
 * The JSON of `value`; `undefined` if it has none.
 *
 * @throws {TypeError} with the JSON pointer of a part that has no JSON form: a BigInt, an object that
 *   contains itself, or a Map, Set, promise or other object that `JSON.stringify` turns into `{}`
 */
export function stringify(value: unknown): string | undefined {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    const problem = describeProblem(value);
    throw problem === undefined ? cause : new TypeError(`Cannot send JSON: ${problem}`, { cause });
  }
  // Visiting all parts takes as long as JSON.stringify, this search less than a tenth of it.
  const problem = text?.includes('{}') ? describeProblem(value) : undefined;
  if (problem !== undefined) throw new TypeError(`Cannot send JSON: ${problem}`);
  return text;
}

/** Deeper parts are not examined. */
const MAX_DEPTH = 500;

/** A part without a JSON form: its keys, last first, and the reason. */
interface Problem {
  readonly keys: string[];
  readonly reason: string;
}

function describeProblem(value: unknown): string | undefined {
  const problem = findProblem(value, '', []);
  if (problem === undefined) return undefined;
  const pointer = pointerOf(problem.keys.reverse());
  return `${pointer === '' ? 'the value' : `"${pointer}"`} ${problem.reason}`;
}

/** The first part of `part`, the field `key` of the last of `parents`, without a JSON form. */
function findProblem(part: unknown, key: string, parents: object[]): Problem | undefined {
  const value = jsonOf(part, key);
  if (typeof value === 'bigint') return { keys: [], reason: 'is a BigInt; use String(value)' };
  if (typeof value !== 'object' || value === null || parents.length > MAX_DEPTH) return undefined;
  if (parents.includes(value)) {
    return { keys: [], reason: 'contains itself; send only some of its fields' };
  }
  const names = Object.keys(value);
  const opaque = opaqueTypeOf(value);
  if (opaque) {
    const reason = `has the type ${opaque.name}, which has no JSON form; ${opaque.remedy}`;
    return { keys: [], reason };
  }
  parents.push(value);
  for (const name of names) {
    const field = (value as Readonly<Record<string, unknown>>)[name];
    if (typeof field !== 'object' && typeof field !== 'bigint') continue;
    const problem = findProblem(field, name, parents);
    if (problem === undefined) continue;
    problem.keys.push(name);
    return problem;
  }
  parents.pop();
  return undefined;
}

function jsonOf(value: unknown, key: string): unknown {
  const toJSON = (value as { readonly toJSON?: unknown } | null | undefined)?.toJSON;
  return typeof toJSON === 'function' ? Reflect.apply(toJSON, value, [key]) : value;
}

/** A JSON Pointer (RFC 6901). */
export function pointerOf(keys: readonly (string | number)[]): string {
  return keys.map((key) => `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}
