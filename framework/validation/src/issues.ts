import { pointerOf } from '@fw/core/extension';
import type { SchemaIssue } from '@fw/core/schema';
import type { ValidationIssue } from '@fw/errors';

/** Maximum number of issues in a response, because a short request must not cause a long response. */
export const MAX_ISSUES = 100;
/** A pointer ends before a longer key, for the same reason. */
const MAX_KEY_LENGTH = 100;
const MAX_DETAIL_LENGTH = 1_000;

/** The issues of one part as sent to the client: without any value of `input`. */
export function readIssues(
  part: ValidationIssue['in'],
  issues: readonly SchemaIssue[],
  input: unknown,
): ValidationIssue[] {
  const leavesByValue = new Map<unknown, Leaves>();
  const read: ValidationIssue[] = [];
  for (const issue of issues) {
    const room = MAX_ISSUES - read.length;
    if (room === 0) break;
    const keys = (issue.path ?? []).map((step) => (typeof step === 'object' ? step.key : step));
    const unknownKeys = unknownKeysOf(issue)?.slice(0, room);
    if (unknownKeys) {
      for (const key of unknownKeys) {
        read.push({
          in: part,
          pointer: toPointer([...keys, String(key)]),
          detail: 'Unrecognized key',
        });
      }
      continue;
    }
    const value = valueAt(input, keys);
    if (!leavesByValue.has(value)) leavesByValue.set(value, leavesOf(value));
    const detail = redact(maskShownValue(issue.message, issue), leavesByValue.get(value));
    read.push({ in: part, pointer: toPointer(keys), detail });
  }
  return read;
}

/** zod lists all unknown keys in one message; each gets its own pointer. */
function unknownKeysOf(issue: SchemaIssue): readonly unknown[] | undefined {
  const { code, keys } = issue as { readonly code?: unknown; readonly keys?: unknown };
  return code === 'unrecognized_keys' && Array.isArray(keys) ? keys : undefined;
}

/** A JSON Pointer to `keys`, or to those before a long one. */
function toPointer(keys: readonly PropertyKey[]): string {
  const names = keys.map(String);
  const long = names.findIndex((name) => name.length > MAX_KEY_LENGTH);
  return pointerOf(long < 0 ? names : names.slice(0, long));
}

function valueAt(input: unknown, keys: readonly PropertyKey[]): unknown {
  let value = input;
  for (const key of keys) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
    value = Reflect.get(value, key);
  }
  return value;
}

/** What the issues of some libraries contain besides message and path. */
interface ShowingIssue extends SchemaIssue {
  /** The value as the message of valibot shows it, at its end. */
  readonly received?: unknown;
  /** The value as the message of arktype shows it, at the end of parentheses. */
  readonly actual?: unknown;
  /** arktype: the issues of which the message consists. */
  readonly errors?: unknown;
}

/** `message` without the value that valibot or arktype shows in it, of any type and length. */
function maskShownValue(message: string, issue: ShowingIssue): string {
  const { received, actual, errors } = issue;
  let text = message;
  if (typeof received === 'string' && text.endsWith(received)) {
    text = `${text.slice(0, -received.length)}…`;
  }
  if (typeof actual === 'string') {
    text = text.replaceAll(`(was ${actual})`, '(was …)').replaceAll(`(${actual})`, '(…)');
  }
  return Array.isArray(errors) ? errors.reduce(maskShownValue, text) : text;
}

/** Shorter unquoted words cannot be distinguished from the words of the schema. */
const MIN_TELLING_LENGTH = 5;
const MAX_LEAVES = 1_000;
const ANY_DETAIL = 'Invalid value';

/** The strings and numbers in a value, longest first; `undefined` if there are too many. */
type Leaves = readonly string[] | undefined;

/** `message` without any of `leaves`, however the schema quotes them. */
function redact(message: string, leaves: Leaves): string {
  if (leaves === undefined) return ANY_DETAIL;
  let text = message;
  for (const leaf of leaves) {
    for (const quote of ['"', "'", '`']) {
      text = text.replaceAll(quote + leaf + quote, `${quote}…${quote}`);
    }
    if (leaf.length >= MIN_TELLING_LENGTH) text = text.replaceAll(leaf, '…');
  }
  return text.length > MAX_DETAIL_LENGTH ? ANY_DETAIL : text;
}

function leavesOf(value: unknown): Leaves {
  const found = new Set<string>();
  const open = [value];
  for (let seen = 0; open.length > 0; seen++) {
    if (seen > MAX_LEAVES) return undefined;
    const next = open.pop();
    if (typeof next === 'number') found.add(String(next));
    else if (typeof next === 'string') found.add(next).add(JSON.stringify(next).slice(1, -1));
    else if (typeof next === 'object' && next !== null) {
      const members = Object.values(next);
      if (members.length > MAX_LEAVES) return undefined;
      open.push(...members);
    }
  }
  found.delete('');
  return [...found].sort((a, b) => b.length - a.length);
}
