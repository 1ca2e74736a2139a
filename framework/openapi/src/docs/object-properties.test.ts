import { expect, test } from 'vitest';

import { propertiesOf } from './object-properties.ts';

test('a property that several schemas describe is listed once, as the outer schema describes it', () => {
  const base = { properties: { a: { type: 'string' }, b: true }, required: ['a', 'b'] };
  const schema = { allOf: [{ $ref: '#/base' }], properties: { a: { const: 'x' } } };

  const properties = propertiesOf(schema, (part) => ('$ref' in part ? base : part));

  expect(properties).toEqual([
    { name: 'a', schema: { const: 'x' }, required: false },
    { name: 'b', schema: {}, required: true },
  ]);
});

test('a schema that combines itself has its own properties', () => {
  const schema = { properties: { a: {} }, allOf: [{ $ref: '#' }] };

  expect(propertiesOf({ $ref: '#' }, () => schema)).toEqual([
    { name: 'a', schema: {}, required: false },
  ]);
});
