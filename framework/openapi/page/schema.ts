import type { Property } from '@fw/core/schema';
import { type Api, resolve, type Schema } from './api.ts';
import { type Child, h, lazyDetails } from './dom.ts';
import { typesOf } from './example.ts';
import { inline } from './markdown.ts';

/** The properties of a schema; nested schemas are opened on demand. */
export function schemaView(api: Api, reference: Schema): HTMLElement {
  const schema = resolve(api, reference);
  const rows = fieldsOf(api, schema).map((property) => row(api, property));
  if (rows.length > 0) return h('ul', { class: 'fields' }, ...rows);
  const inner = innerOf(api, schema);
  return h(
    'div',
    { class: 'fields' },
    h('p', { class: 'type-line' }, h('code', {}, typeName(api, reference))),
    ...(inner ? [inner.view()] : []),
  );
}

/** One property or parameter: name, type and description. */
export function row(api: Api, { name, schema, required }: Property): HTMLElement {
  const resolved = resolve(api, schema);
  const { description } = { ...resolved, ...schema };
  const rules = rulesOf(resolved);
  const inner = innerOf(api, resolved);
  return h(
    'li',
    {},
    h(
      'p',
      { class: 'field' },
      h('code', { class: 'name' }, name),
      ' ',
      h('span', { class: 'type' }, typeName(api, schema)),
      ' ',
      h('span', { class: required ? 'required' : 'optional' }, required ? 'required' : 'optional'),
    ),
    typeof description === 'string' && h('p', { class: 'about' }, ...inline(description)),
    rules.length > 0 && h('p', { class: 'rules' }, ...rules),
    inner && lazyDetails(inner.title, 'inner', inner.view),
  );
}

/** A schema that combines itself has no end. */
const MAX_DEPTH = 8;

/** The properties of a schema and of the schemas that it combines with `allOf`, each once. */
function fieldsOf(api: Api, reference: Schema, depth = 0): Property[] {
  const { properties = {}, required = [], allOf = [] } = resolve(api, reference);
  const parts = depth < MAX_DEPTH ? allOf : [];
  const own = Object.entries(properties).map(([name, schema]) => ({
    name,
    schema: Object(schema),
    required: required.includes(name),
  }));
  const all = [...parts.flatMap((part) => fieldsOf(api, part, depth + 1)), ...own];
  return [...new Map(all.map((each) => [each.name, each])).values()];
}

/** The nested schema of a property. */
function innerOf(api: Api, schema: Schema): { title: string; view: () => Child } | undefined {
  const item = schema.items && resolve(api, schema.items);
  const extra =
    typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;
  const choices = schema.oneOf ?? schema.anyOf;
  if (fieldsOf(api, schema).length > 0) {
    return { title: 'Properties', view: () => schemaView(api, schema) };
  }
  if (choices) {
    return {
      title: 'One of',
      view: () => h('div', {}, ...choices.map((choice) => schemaView(api, choice))),
    };
  }
  if (item && innerOf(api, item)) {
    return { title: 'Properties of each item', view: () => schemaView(api, item) };
  }
  if (extra) return { title: 'Each value', view: () => schemaView(api, extra) };
  return undefined;
}

/** The name of a type: `User`, `array of string`, `"a" or "b"`, `integer or null`. */
export function typeName(api: Api, schema: Schema): string {
  const name = schema.$ref?.split('/').at(-1);
  if (name) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return [...new Set(choices.map((choice) => typeName(api, choice)))].join(' or ');
  if (schema.allOf) return 'object';
  const names = typesOf(schema).map((type) =>
    type === 'array' && schema.items ? `array of ${typeName(api, schema.items)}` : type,
  );
  const text = names.join(' or ') || 'any';
  return schema.format ? `${text} (${schema.format})` : text;
}

/** The numeric limits of a schema; the largest safe integer is not shown. */
function rulesOf(schema: Schema): Child[] {
  const rules = [
    range(schema.minimum ?? schema.exclusiveMinimum, schema.maximum ?? schema.exclusiveMaximum, ''),
    range(schema.minLength, schema.maxLength, ' characters'),
    range(schema.minItems, schema.maxItems, ' items'),
    schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
    // A format describes the pattern.
    typeof schema.pattern === 'string' && !schema.format ? `matches ${schema.pattern}` : undefined,
  ];
  return rules.filter((rule) => rule !== undefined).map((rule) => h('span', {}, rule));
}

function range(low: unknown, high: unknown, unit: string): string | undefined {
  const isLow = typeof low === 'number' && low > Number.MIN_SAFE_INTEGER;
  const isHigh = typeof high === 'number' && high < Number.MAX_SAFE_INTEGER;
  if (isLow && isHigh) return low === high ? `${low}${unit}` : `${low} to ${high}${unit}`;
  if (isLow) return `at least ${low}${unit}`;
  return isHigh ? `at most ${high}${unit}` : undefined;
}
