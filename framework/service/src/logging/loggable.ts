import { inspect } from 'node:util';

/** The characters that the fields of one line have together, names included; what exceeds them is cut. */
export const MAX_CHARACTERS = 16 * 1024;
/** The number of values of one line, nested ones included. */
const MAX_VALUES = 1_000;
/** The number of objects around a value. */
const MAX_DEPTH = 8;

/** What is left for the rest of a line. */
interface Budget {
  characters: number;
  values: number;
}

/**
 * A copy of `fields` that JSON can represent, of bounded size. A value without a JSON form, such as a BigInt, is a
 * text; an error is its stack. A getter or `toJSON()` that throws, and an object that contains itself, are replaced.
 */
export function copyLoggable(fields: object): Record<string, unknown> {
  return copyObject(fields, { characters: MAX_CHARACTERS, values: MAX_VALUES }, []);
}

/** The first 16 Ki characters of `text`. */
export function cut(
  text: string,
  budget: Pick<Budget, 'characters'> = { characters: MAX_CHARACTERS },
): string {
  const kept = text.length > budget.characters ? `${text.slice(0, budget.characters)}…` : text;
  budget.characters = Math.max(0, budget.characters - text.length);
  return kept;
}

function copyObject(
  source: object,
  budget: Budget,
  ancestors: readonly object[],
): Record<string, unknown> {
  // Without a prototype, so that a field "__proto__" is a field.
  const copied: Record<string, unknown> = Object.create(null);
  for (const name of Object.keys(source)) {
    if (isSpent(budget)) {
      copied['…'] = 'omitted';
      break;
    }
    const read = () => (source as Readonly<Record<string, unknown>>)[name];
    copied[cut(name, budget)] = copyMember(read, budget, ancestors);
  }
  return copied;
}

function copyMember(read: () => unknown, budget: Budget, ancestors: readonly object[]): unknown {
  budget.values--;
  try {
    return copyValue(read(), budget, ancestors);
  } catch (error) {
    return cut(
      `[cannot be logged: ${error instanceof Error ? error.message : 'it throws'}]`,
      budget,
    );
  }
}

function copyValue(value: unknown, budget: Budget, ancestors: readonly object[]): unknown {
  if (typeof value === 'string') return cut(value, budget);
  if (typeof value === 'number' && !Number.isFinite(value)) return String(value);
  if (typeof value === 'bigint') return cut(String(value), budget);
  if (typeof value !== 'object' || value === null) return value; // JSON omits functions and symbols
  if (ancestors.includes(value)) return '[circular]';
  if (ancestors.length >= MAX_DEPTH) return '[too deep]';
  if (isPrinted(value)) return cut(inspect(value), budget);
  const inner = [...ancestors, value];
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return copyValue(value.toJSON(), budget, inner);
  }
  return Array.isArray(value) ? copyList(value, budget, inner) : copyObject(value, budget, inner);
}

/** Whether JSON has no useful form of `value`. */
function isPrinted(value: object): boolean {
  return (
    value instanceof Error ||
    value instanceof Map ||
    value instanceof Set ||
    value instanceof RegExp ||
    value instanceof Promise ||
    ArrayBuffer.isView(value) // toJSON() of a Buffer would list each byte
  );
}

function copyList(list: readonly unknown[], budget: Budget, ancestors: readonly object[]) {
  const copied: unknown[] = [];
  for (let at = 0; at < list.length; at++) {
    if (isSpent(budget)) return [...copied, '…'];
    copied.push(copyMember(() => list[at], budget, ancestors));
  }
  return copied;
}

function isSpent({ characters, values }: Budget): boolean {
  return characters <= 0 || values <= 0;
}
