import { registerSchema, unregisterSchema, validate } from '@hyperjump/json-schema/draft-2020-12';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { createSerializer } from './serializer.ts';
import type { JsonSchema } from './subschemas.ts';
import { addUndeclared } from './testing/undeclared.ts';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';
const RUNS = 500;
const NAMES = ['a', 'b', 'c', 'x1'];

const name = fc.constantFrom(...NAMES);
const names = fc.uniqueArray(name, { maxLength: 2 });
const leaf: fc.Arbitrary<JsonSchema> = fc.oneof(
  fc.constantFrom('string', 'integer', 'null').map((type) => ({ type })),
  fc.constantFrom('k', 'l', 1).map((value) => ({ const: value })),
  fc.constant({ enum: ['k', 1] }),
  fc.constantFrom({ a: 1 }, { b: { c: 'k' } }, [1, { a: 'k' }]).map((value) => ({ const: value })),
  fc.constant({ enum: [{ a: 1 }, { a: 'k', b: 1 }] }),
);

/** Schemas of objects and lists; with `open`, they may declare fields that they do not name. */
function schemasOf(open: boolean): fc.Arbitrary<JsonSchema> {
  const { schema } = fc.letrec<{ schema: JsonSchema; object: JsonSchema }>((tie) => {
    const some = fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf, tie('schema'));
    const properties = fc.dictionary(name, some, { maxKeys: 3 });
    const keywords = fc.oneof(
      properties.map((value) => ({ properties: value })),
      names.map((required) => ({ required })),
      fc.dictionary(name, names, { maxKeys: 1 }).map((value) => ({ dependentRequired: value })),
      ...(open
        ? [
            some.map((value) => ({ patternProperties: { '^x': value } })),
            fc.tuple(some, some).map(([x, y]) => ({ patternProperties: { '^x': x, '1$': y } })),
            fc.oneof(some, fc.boolean()).map((value) => ({ additionalProperties: value })),
            fc.oneof(some, fc.boolean()).map((value) => ({ unevaluatedProperties: value })),
            fc.constant({ propertyNames: { enum: ['a', 'x1'] } }),
            fc.constant({ patternProperties: { '^x': false } }),
          ]
        : []),
    );
    const object = fc
      .tuple(properties, fc.array(keywords, { maxLength: 2 }))
      .map(([own, more]) => Object.assign({ type: 'object', properties: own }, ...more));
    const choices = fc.array(tie('schema'), { minLength: 1, maxLength: 3 });
    return {
      object,
      schema: fc.oneof(
        { maxDepth: 4, depthSize: 'small' },
        object,
        leaf,
        fc.record({ type: fc.constant('array'), items: some }),
        fc
          .tuple(fc.array(some, { minLength: 1, maxLength: 2 }), fc.option(some))
          .map(([prefixItems, items]) => ({
            ...{ type: 'array', prefixItems, items: items ?? false },
          })),
        fc.tuple(some, object).map(([one, two]) => ({ anyOf: [one, two] })),
        choices.map((anyOf) => ({ anyOf })),
        choices.map((oneOf) => ({ oneOf })),
        fc.tuple(tie('object'), choices).map(([own, anyOf]) => ({ ...own, anyOf })),
        fc.tuple(tie('object'), choices).map(([own, oneOf]) => ({ ...own, oneOf })),
        fc.array(tie('object'), { minLength: 1, maxLength: 2 }).map((allOf) => ({ allOf })),
      ),
    };
  });
  return schema;
}

const { value: anyValue } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'medium' },
    fc.constantFrom('k', 'l', 1, 2, null),
    fc.dictionary(name, tie('value'), { maxKeys: 3 }),
    fc.array(tie('value'), { maxLength: 2 }),
  ),
}));

/** A value that probably fits `schema`. */
function valuesOf(schema: unknown): fc.Arbitrary<unknown> {
  const { type, const: only, enum: list, items, prefixItems, ...rest } = Object(schema);
  if (only !== undefined) return fc.constant(only);
  if (list) return fc.constantFrom(...list);
  if (type === 'string') return fc.constantFrom('k', 'l');
  if (type === 'integer') return fc.constantFrom(1, 2);
  if (type === 'null') return fc.constant(null);
  if (type === 'array') {
    const first = fc.tuple(...(prefixItems ?? []).map(valuesOf));
    return fc
      .tuple(first, items ? fc.array(valuesOf(items), { maxLength: 2 }) : fc.constant([]))
      .map((parts) => parts.flat());
  }
  const inner = [rest.allOf, rest.anyOf, rest.oneOf]
    .filter(Boolean)
    .map((parts: unknown[]) =>
      parts === rest.allOf
        ? fc.tuple(...parts.map(valuesOf)).map((all) => merge(all))
        : fc.oneof(...parts.map(valuesOf)),
    );
  const other = rest.additionalProperties || rest.unevaluatedProperties;
  const fields = fc.record(
    {
      ...(typeof other === 'object' ? { c: valuesOf(other) } : {}),
      ...Object.fromEntries(
        Object.entries({
          ...(rest.patternProperties && { x1: Object.values(rest.patternProperties)[0] }),
          ...rest.properties,
        }).map(([key, part]) => [key, valuesOf(part)]),
      ),
    },
    { requiredKeys: [] },
  );
  const own = type === 'object' ? [fields] : [];
  return fc.tuple(...own, ...inner).map((all) => merge(all));
}

function merge(values: readonly unknown[]): unknown {
  const objects = values.filter((value) => Object(value) === value && !Array.isArray(value));
  return objects.length === values.length ? Object.assign({}, ...objects) : values.at(-1);
}

/** `schema` without fields that it does not declare, also in its fields and items. */
function close(schema: unknown, isPlace = true): unknown {
  if (typeof schema !== 'object' || schema === null) return schema;
  const each = (part: unknown, place: boolean): unknown => {
    if (Array.isArray(part)) return part.map((one) => close(one, place));
    return close(part, place);
  };
  const fields = (part: object) =>
    Object.fromEntries(Object.entries(part).map(([key, one]) => [key, close(one)]));
  const closed = Object.entries(schema).map(([keyword, value]) => {
    if (['properties', 'patternProperties'].includes(keyword)) return [keyword, fields(value)];
    if (['items', 'prefixItems'].includes(keyword)) return [keyword, each(value, true)];
    if (/^(additional|unevaluated)Properties$/.test(keyword)) return [keyword, each(value, true)];
    if (['allOf', 'anyOf', 'oneOf'].includes(keyword)) return [keyword, each(value, false)];
    return [keyword, value];
  });
  const result = Object.fromEntries(closed);
  return isPlace && !('const' in result || 'enum' in result)
    ? { unevaluatedProperties: false, unevaluatedItems: false, ...result }
    : result;
}

let count = 0;

/** Whether JSON Schema accepts `value`. */
async function isValid(schema: unknown, value: unknown): Promise<boolean> {
  const uri = `https://example.com/${++count}`;
  registerSchema(schema as never, uri, DIALECT);
  try {
    return (await validate(uri, value as never)).valid;
  } finally {
    unregisterSchema(uri);
  }
}

function send(schema: JsonSchema, value: unknown) {
  const problems: unknown[] = [];
  const text = createSerializer(schema)(value, (violation) => problems.push(violation));
  return { json: text === undefined ? undefined : JSON.parse(text), problems };
}

function pairsOf(open: boolean) {
  return schemasOf(open).chain((schema) =>
    fc.tuple(fc.constant(schema), fc.oneof(valuesOf(schema), anyValue)),
  );
}

test('a value of which JSON Schema evaluates each field is sent complete, for any schema', async () => {
  let checked = 0;
  await fc.assert(
    fc.asyncProperty(pairsOf(true), async ([schema, value]) => {
      fc.pre(await isValid(close(schema), value));
      checked++;
      expect(send(schema, value)).toEqual({ json: value, problems: [] });
    }),
    { numRuns: RUNS, maxSkipsPerRun: 100 },
  );
  expect(checked).toBeGreaterThan(100);
});

test('a field that no schema declares is never sent, for any schema', async () => {
  await fc.assert(
    fc.asyncProperty(pairsOf(false), async ([schema, value]) => {
      fc.pre(await isValid(close(schema), value));
      expect(send(schema, addUndeclared(value))).toEqual({ json: value, problems: [] });
    }),
    { numRuns: RUNS, maxSkipsPerRun: 100 },
  );
});
