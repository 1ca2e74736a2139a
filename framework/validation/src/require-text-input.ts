import { type JsonSchema, type StandardSchema, toJsonSchema } from '@fw/core/schema';

import { sampleIssues } from './sample-issues.ts';

/** Types that no text has, each with a schema that converts text to it. */
const CONVERSIONS = new Map<unknown, string>([
  ['number', 'z.coerce.number()'],
  ['integer', 'z.coerce.number()'],
  ['boolean', 'z.stringbool()'],
]);

/**
 * Rejects a schema of the query, the path parameters or the headers that expects a number or a boolean:
 * their values are text, so every request with one would get 400. Only schemas that have a JSON Schema
 * form are checked, and then with samples: a schema that converts text may have the same form.
 *
 * @throws {TypeError} with the part, the property and a schema that converts text
 */
export function requireTextInput(part: string, schema: StandardSchema): void {
  const { properties } = toJsonSchema(schema, 'input');
  for (const [name, property] of Object.entries<JsonSchema>(Object(properties))) {
    const type = [property.type].flat().find((each) => CONVERSIONS.has(each));
    if (type !== undefined && !acceptsText(schema, name, property)) {
      throw new TypeError(
        `Cannot validate ${part} "${name}" as type ${type}: its value is text; expected a schema that converts it, such as ${CONVERSIONS.get(type)} of zod`,
      );
    }
  }
}

/** Whether `schema` accepts texts as the property `name`, or accepts none of the samples. */
function acceptsText(schema: StandardSchema, name: string, property: JsonSchema): boolean {
  const issuesOf = (value: unknown) => sampleIssues(schema, { [name]: value }, name);
  // A conversion to a number returns NaN for both. Refinements, which may be slow, do not run for NaN.
  if (issuesOf('x')?.join() === issuesOf(Number.NaN)?.join()) return true;
  return !samplesOf(property).some(
    (sample) => issuesOf(sample)?.length === 0 && Boolean(issuesOf(String(sample))?.length),
  );
}

/** Numbers and booleans, some of which the schema probably accepts. */
function samplesOf({ type, minimum, maximum }: JsonSchema): readonly unknown[] {
  if (type === 'boolean') return [true, false];
  return [1, minimum, maximum].filter((sample) => sample !== undefined);
}
