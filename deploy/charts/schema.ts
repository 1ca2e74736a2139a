import { parse } from 'yaml';

import { type ChartValue, isMap } from './source.ts';

/** A JSON Schema, draft 7, which Helm reads. */
export type Schema = Readonly<Record<string, unknown>>;

const HOST = '([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?';
const HOST_EXPECTED = 'a host name such as api.example.org';
const AMOUNT = {
  type: ['string', 'number'],
  if: { pattern: '^[0-9]+(\\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$' },
  else: { const: 'a quantity such as 100m or 128Mi' },
};
const AMOUNTS = object({ cpu: AMOUNT, memory: AMOUNT, 'ephemeral-storage': AMOUNT });
const PORT = { type: 'integer', minimum: 1, maximum: 65_535 };
/** A peer of a NetworkPolicy that selects pods. */
const PODS = { podSelector: { type: 'object' }, namespaceSelector: { type: 'object' } };
const STRINGS = { type: 'object', additionalProperties: { type: 'string' } };
/** Headers that an HTTPRoute can compare, by their names (RFC 9110, section 5.6.2). */
const HEADERS = {
  type: 'object',
  maxProperties: 16,
  propertyNames: textLike("^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,256}$", 'the name of a header'),
  additionalProperties: textLike('^.+$', 'the value of a header'),
};
const WEIGHT = { type: 'integer', minimum: 0, maximum: 1_000_000 };

/** The schemas that `# @schema <name>` refers to. */
const NAMED: Readonly<Record<string, Schema>> = {
  port: PORT,
  strings: STRINGS,
  quantity: textLike('^[0-9]+(\\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$', 'a quantity such as 1Gi'),
  repository: textLike('^[a-z0-9][a-z0-9._/-]*$', 'the name of an image, without its tag'),
  digest: textLike('^(sha256:[0-9a-f]{64})?$', 'sha256: and 64 hexadecimal digits'),
  optionalUrl: textLike('^(https?://.+)?$', 'a URL that begins with http:// or https://'),
  optionalDay: textLike('^(\\d{4}-\\d{2}-\\d{2})?$', 'a day such as 2027-12-31'),
  pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
  secretNames: list(object({ name: { type: 'string' } }, ['name'])),
  hostNames: list(textLike(`^(\\*\\.)?${HOST}$`, HOST_EXPECTED)),
  ingressHosts: list(object({ host: textLike(`^${HOST}$`, HOST_EXPECTED) }, ['host'])),
  ingressTls: list(
    object({ secretName: { type: 'string' }, hosts: list({ type: 'string' }) }, ['secretName']),
  ),
  backends: list(
    object({ name: { type: 'string' }, port: PORT, weight: WEIGHT, headers: HEADERS }, [
      'name',
      'weight',
    ]),
  ),
  clients: list(object(PODS, ['podSelector'])),
  databaseClients: list(
    object({ ...PODS, connections: { type: 'integer', minimum: 1 } }, [
      'podSelector',
      'connections',
    ]),
  ),
  resources: object({ requests: AMOUNTS, limits: AMOUNTS }),
  // The schema of the service's own chart checks the other values.
  service: {
    type: 'object',
    properties: { enabled: { type: 'boolean' } },
    required: ['enabled'],
  },
};

/**
 * Text that matches `pattern`. Helm prints a pattern unchanged but the value of a constant as text, so the
 * schema of other text is a constant that says what was expected.
 */
function textLike(pattern: string, expected: string): Schema {
  return { type: 'string', if: { pattern }, else: { const: expected } };
}

function list(items: Schema): Schema {
  return { type: 'array', items };
}

/** A map with these keys only. The message about an unknown key lists them (`propertyNames`). */
function object(properties: Record<string, unknown>, required: readonly string[] = []): Schema {
  return {
    type: 'object',
    properties,
    ...(required.length > 0 && { required }),
    additionalProperties: false,
    propertyNames: { enum: Object.keys(properties) },
  };
}

/** A map of values while the schema is put together. */
type Draft = Map<string, Schema | Draft>;

/** The schema of a chart: its values with their descriptions, and no other key. */
export function schemaOf(title: string, values: readonly ChartValue[]): Schema {
  const root: Draft = new Map();
  for (const value of values) {
    const [name = '', ...parents] = value.path.toReversed();
    const hasKeys = values.some(
      ({ path }) =>
        path.length > value.path.length &&
        path.slice(0, value.path.length).join() === value.path.join(),
    );
    if (hasKeys) continue;
    const parent = parents.toReversed().reduce(childOf, root);
    parent.set(name, { ...schemaOfValue(value), description: value.description });
  }
  return { $schema: 'http://json-schema.org/draft-07/schema#', title, ...fromDraft(root) };
}

function childOf(parent: Draft, key: string): Draft {
  const child = parent.get(key) ?? new Map();
  if (!(child instanceof Map)) throw new TypeError(`Cannot nest values in "${key}"`);
  parent.set(key, child);
  return child;
}

function fromDraft(draft: Draft): Schema {
  return object(
    Object.fromEntries(
      draft.entries().map(([key, part]) => [key, part instanceof Map ? fromDraft(part) : part]),
    ),
  );
}

function schemaOfValue({ path, default: fallback, schema }: ChartValue): Schema {
  if (schema !== undefined) return resolve(parse(schema));
  if (typeof fallback === 'boolean' || typeof fallback === 'string') {
    return { type: typeof fallback };
  }
  if (typeof fallback === 'number') return { type: 'integer', minimum: 0 };
  if (Array.isArray(fallback)) return list({ type: 'object' });
  if (isMap(fallback)) return { type: 'object' };
  throw new TypeError(`Cannot derive a schema for "${path.join('.')}": expected "# @schema"`);
}

/** A schema as a comment contains it: a name, `{ form, expected }` or JSON Schema. */
function resolve(schema: unknown): Schema {
  if (typeof schema === 'string') {
    const named = NAMED[schema];
    if (!named) throw new TypeError(`Cannot find the schema "${schema}": expected it in NAMED`);
    return named;
  }
  if (!isMap(schema)) throw new TypeError('Cannot read a schema: expected a name or a map');
  const { form, expected, items, ...others } = schema;
  if (form !== undefined) return textLike(String(form), String(expected));
  return items === undefined ? others : { ...others, items: resolve(items) };
}
