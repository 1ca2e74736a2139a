import type { StandardSchema } from '@fw/core/schema';

import { type Field, fieldsOf } from './schema-fields.ts';

/** The types of JSON Schema that text is not, each with a schema that converts text to it. */
const CONVERSIONS = new Map([
  ['number', 'z.coerce.number()'],
  ['integer', 'z.coerce.number()'],
  ['boolean', 'z.stringbool()'],
]);
const TO_LIST = "z.string().transform((text) => text.split(','))";

/**
 * Rejects a schema with a field that can accept no text: a number, a boolean or, without `lists`, a list.
 * Rejects a field too that makes `true` of "false". Only schemas with a JSON Schema form are checked.
 *
 * The JSON Schema declares the types of a field, but `z.number()` and `z.coerce.number()` have the same
 * one. A field is therefore rejected only if it accepts a value of its type, and not the same value as text.
 *
 * @throws {TypeError} with the part, the field and a schema that converts text
 */
export function requireTextInput(
  part: string,
  schema: StandardSchema,
  { lists }: { readonly lists: boolean },
): void {
  for (const field of fieldsOf(schema)) {
    const type = typeWithoutText(field);
    if (type !== undefined) throw badType(part, field.name, type, CONVERSIONS.get(type));
    if (!lists && isList(field)) throw badType(part, field.name, 'array', TO_LIST);
    if (field.canBeBoolean && formsOf(field).some((form) => readsFalseAsTrue(field, form))) {
      throw new TypeError(
        `Cannot validate ${part} "${field.name}" as type boolean: it would be true for the text "false"; expected a schema that reads the text, such as z.stringbool() of zod`,
      );
    }
  }
}

function badType(part: string, name: string, type: string, conversion: string | undefined) {
  return new TypeError(
    `Cannot validate ${part} "${name}" as type ${type}: its value is text; expected a schema that converts it, such as ${conversion} of zod`,
  );
}

/** The names of the fields that accept a list and no text: one value is a list of one. */
export function listNamesOf(schema: StandardSchema): readonly string[] {
  const fields = fieldsOf(schema);
  const others = new Set(fields.filter((field) => !isList(field)).map(({ name }) => name));
  return [...new Set(fields.map(({ name }) => name))].filter((name) => !others.has(name));
}

/** How a value is given to a field: alone, or in a list. */
type Form = (value: unknown) => unknown;

const alone: Form = (value) => value;

/** The second one is for schemas that require two items. */
const LISTS: readonly Form[] = [(value) => [value], (value) => [value, value]];

function formsOf({ types }: Field): readonly Form[] {
  return types.includes('array') ? [alone, ...LISTS] : [alone];
}

/** A type of the field, or of its items, whose values it accepts, but not as text. */
function typeWithoutText(field: Field): string | undefined {
  return (
    otherThanText(field.types).find((type) => rejectsText(field, type, alone)) ??
    otherThanText(field.itemTypes).find((type) =>
      LISTS.some((form) => rejectsText(field, type, form)),
    )
  );
}

/** Numbers and booleans among `types`; none if one of them is text. */
function otherThanText(types: readonly string[]): readonly string[] {
  return types.includes('string') ? [] : types.filter((type) => CONVERSIONS.has(type));
}

/** Whether the field accepts a sample of `type`, and not the same sample as text. */
function rejectsText(field: Field, type: string, form: Form): boolean {
  if (convertsToNumber(field, form)) return false;
  const samples = type === 'boolean' ? [true, false] : [1, ...field.limits];
  return samples.some(
    (sample) =>
      messagesOf(field, form(sample)) === '' && Boolean(messagesOf(field, form(String(sample)))),
  );
}

/**
 * Whether the field makes NaN of other text, as `z.coerce.number()` does. Its refinements, which may be
 * slow, do not run for NaN.
 */
function convertsToNumber(field: Field, form: Form): boolean {
  const isUnion = field.types.length > 1; // its message does not depend on the value
  return !isUnion && messagesOf(field, form('x')) === messagesOf(field, form(Number.NaN));
}

/** The messages of all issues; empty if the value is accepted, `undefined` if that is not known. */
function messagesOf(field: Field, value: unknown): string | undefined {
  const outcome = field.read(value);
  if (typeof outcome !== 'object') return undefined;
  return outcome.issues.map(({ message }) => message).join();
}

/** Whether "false" becomes true, as by `Boolean()`. */
function readsFalseAsTrue(field: Field, form: Form): boolean {
  const outputOf = (text: string) =>
    JSON.stringify(Reflect.get(Object(field.read(form(text))), 'value'));
  const no = outputOf('false');
  const isFalse = no === JSON.stringify(form(false));
  const isBoolean = [...field.types, ...field.itemTypes].includes('boolean');
  if (isBoolean) return no !== undefined && no === outputOf('true') && !isFalse;
  return no === JSON.stringify(form(true)) && outputOf('') === JSON.stringify(form(false));
}

const TEXTS = ['x', '1', ''];

/** Whether the field declares a list, and accepts none of some texts in its place. */
function isList({ types, read }: Field): boolean {
  const isOther = types.includes('string') || otherThanText(types).length > 0;
  if (!types.includes('array') || isOther) return false;
  return TEXTS.map(read).every((outcome) => {
    if (outcome === 'later') return !types.includes('any');
    const issues = outcome?.issues ?? [];
    // An issue of an item means that the schema has made a list of the text.
    return issues.length > 0 && issues.every(({ path = [] }) => path.length === 0);
  });
}
