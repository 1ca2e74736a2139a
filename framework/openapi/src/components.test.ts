import type { JsonSchema } from '@fw/core/schema';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Components } from './components.ts';

const NAMES = ['A', 'B', 'a/b~', 'x y', 'x_y'];

function pointer(name: string): string {
  return `#/$defs/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
}

/** Schemas whose parts refer to each other, to themselves and to the whole, and data that looks like references. */
const part = fc.letrec<{ node: JsonSchema }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom({ type: 'string' }, { const: { $ref: '#/$defs/A' } }, { $ref: '#' }),
    fc.constantFrom(...NAMES).map((name) => ({ $ref: pointer(name) })),
    fc.record({ type: fc.constant('array'), items: tie('node') }),
    fc.record({
      properties: fc.dictionary(fc.constantFrom('$ref', 'enum', '__proto__', 'p'), tie('node')),
    }),
  ),
})).node;

const schema = fc
  .tuple(
    fc.record({ type: fc.constant('object'), allOf: fc.array(part, { maxLength: 3 }) }),
    fc.tuple(...NAMES.map(() => part)),
  )
  .map(([root, parts]) => ({
    ...root,
    $defs: Object.fromEntries(NAMES.map((name, at) => [name, parts[at]])),
  }));

/** Writes out what a schema means, references followed, down to a depth. */
function meaning(value: unknown, follow: (ref: string) => unknown, depth = 3): unknown {
  if (depth === 0) return '…';
  if (Array.isArray(value)) return value.map((item) => meaning(item, follow, depth));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, const: constant, ...rest } = value as Record<string, unknown>;
  if (constant !== undefined) return { constant };
  if (typeof $ref === 'string') return meaning(follow($ref), follow, depth - 1);
  return Object.entries(rest)
    .filter(([key]) => key !== '$defs')
    .map(([key, inner]) => [
      key,
      key === 'properties'
        ? Object.entries(inner as object).map(([name, each]) => [
            name,
            meaning(each, follow, depth),
          ])
        : meaning(inner, follow, depth),
    ]);
}

test('schemas keep their meaning in a document, even if several have one name', () => {
  fc.assert(
    fc.property(fc.array(schema, { minLength: 1, maxLength: 4 }), (schemas) => {
      const components = new Components();

      const added = schemas.map((each) =>
        components.addSchema(each, { name: 'Own', suffix: 'Input' }),
      );

      const shared = JSON.parse(JSON.stringify(components)).schemas;
      const inDocument = (ref: string) => {
        const name = /^#\/components\/schemas\/([\w.-]+)$/.exec(ref)?.[1] ?? '';
        expect(Object.hasOwn(shared, name)).toBe(true);
        return shared[name];
      };
      for (const [at, original] of schemas.entries()) {
        const withoutNames = (ref: string) =>
          ref === '#'
            ? original
            : original.$defs[NAMES.find((name) => pointer(name) === ref) ?? ''];
        expect(meaning(added[at], inDocument, 4)).toEqual(
          meaning(added[at]?.$ref ? { $ref: '#' } : original, withoutNames, 4),
        );
      }
    }),
    { numRuns: 500 },
  );
});

test('equal schemas of one name are one component', () => {
  const components = new Components();
  const user = { $ref: '#/$defs/User', $defs: { User: { type: 'object' } } };

  const one = components.addSchema(user, { name: 'one', suffix: 'Input' });
  const two = components.addSchema(user, { name: 'two', suffix: 'Output' });

  expect(one).toEqual({ $ref: '#/components/schemas/User' });
  expect(two).toEqual(one);
  expect(components.toJSON()).toEqual({ schemas: { User: { type: 'object' } } });
});

test.each<[string, JsonSchema, added: JsonSchema, schemas: Readonly<Record<string, unknown>>]>([
  [
    'names have only allowed characters and are distinct',
    {
      items: { $ref: '#/$defs/a,%20b' },
      not: { $ref: '#/$defs/a_b' },
      $defs: { 'a, b': { type: 'string' }, a_b: { type: 'null' } },
    },
    { items: { $ref: '#/components/schemas/a_b' }, not: { $ref: '#/components/schemas/a_b_' } },
    { a_b: { type: 'string' }, a_b_: { type: 'null' } },
  ],
  [
    'a schema that contains itself has the name of its title',
    { title: 'A tree', items: { $ref: '#' } },
    { $ref: '#/components/schemas/A_tree' },
    { A_tree: { title: 'A tree', items: { $ref: '#/components/schemas/A_tree' } } },
  ],
  [
    'a schema that contains a part of itself is shared, with the name _ for an empty title',
    { title: '', items: { $ref: '#/not' }, not: {} },
    { $ref: '#/components/schemas/_' },
    { _: { title: '', items: { $ref: '#/components/schemas/_/not' }, not: {} } },
  ],
  [
    'a reference into a definition leads into the component',
    { $ref: '#/definitions/A/items', definitions: { A: { items: { type: 'null' } } } },
    { $ref: '#/components/schemas/A/items' },
    { A: { items: { type: 'null' } } },
  ],
  [
    'references to other documents and components stay',
    { allOf: [{ $ref: 'https://a.example/#/x' }, { $ref: '#/components/schemas/Other' }] },
    { allOf: [{ $ref: 'https://a.example/#/x' }, { $ref: '#/components/schemas/Other' }] },
    {},
  ],
])('%s', (_title, schema, added, schemas) => {
  const components = new Components();

  expect(components.addSchema(schema, { name: 'Own', suffix: 'Input' })).toEqual(added);
  expect(components.toJSON().schemas ?? {}).toEqual(schemas);
});

test('different schemas of one name get the suffix, then numbers', () => {
  const components = new Components();

  const refs = [1, 2, 3, 4, 2].map((maximum) =>
    components.addSchema(
      { $ref: '#/$defs/A', $defs: { A: { maximum } } },
      { name: 'Own', suffix: 'Input' },
    ),
  );

  const names = ['A', 'AInput', 'A2', 'A3', 'AInput'];
  expect(refs).toEqual(names.map((name) => ({ $ref: `#/components/schemas/${name}` })));
});

test('different responses of one name get numbers, equal ones are one component', () => {
  const components = new Components();

  const refs = ['a', 'b', 'c', 'b'].map((description) =>
    components.add('responses', 'Conflict', { description }),
  );

  const names = ['Conflict', 'Conflict2', 'Conflict3', 'Conflict2'];
  expect(refs).toEqual(names.map((name) => ({ $ref: `#/components/responses/${name}` })));
});
