import { type Api, resolve, type Schema } from './api.ts';

const TEXTS: Readonly<Record<string, string>> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  email: 'ada@example.com',
  uuid: '0b8e5b6e-3c1d-4f5a-9a53-6f1f1c9e2d47',
  uri: 'https://example.com',
  'uri-reference': 'about:blank',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
};

/** Example strings for common property names. */
const TEXTS_BY_NAME: Readonly<Record<string, string>> = {
  id: '42',
  name: 'Ada Lovelace',
  title: 'A title',
  city: 'London',
  country: 'GB',
  currency: 'EUR',
};

/** Generates an example of a schema. Omits a schema inside itself. */
export function exampleOf(api: Api, schema: Schema): unknown {
  return make(api, schema, { name: '', above: [] }) ?? {};
}

/** A position in an example: the property name and the enclosing schemas. */
interface Place {
  readonly name: string;
  readonly above: readonly Schema[];
}

/** Follows the first of several choices; other walks of a schema follow all of them. */
function make(api: Api, reference: Schema, { name, above }: Place): unknown {
  const schema = resolve(api, reference);
  if (above.includes(schema) || above.length > 12) return undefined;
  const given = schema.example ?? schema.examples?.[0] ?? schema.default ?? schema.const;
  if (given !== undefined) return given;
  if (schema.enum) return schema.enum[0];
  const place = { name, above: [...above, schema] };
  const choice = schema.oneOf?.[0] ?? schema.anyOf?.[0];
  if (choice) return make(api, choice, place);
  if (schema.allOf) {
    const parts = schema.allOf.map((part) => make(api, part, place));
    return Object.assign({}, ...parts, makeObject(api, schema, place));
  }
  switch (typesOf(schema)[0]) {
    case 'object':
      return makeObject(api, schema, place);
    case 'array': {
      const item = schema.items && make(api, schema.items, place);
      return item === undefined ? [] : [item];
    }
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? Math.max(schema.minimum, 1) : 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'string':
      return TEXTS[schema.format ?? ''] ?? TEXTS_BY_NAME[name] ?? 'text';
    default:
      return {};
  }
}

function makeObject(api: Api, { properties = {} }: Schema, { above }: Place): object {
  return Object.fromEntries(
    Object.entries(properties)
      .map(([name, part]) => [name, make(api, part, { name, above })])
      .filter(([, value]) => value !== undefined),
  );
}

export function typesOf({ type, properties, items }: Schema): readonly string[] {
  if (typeof type === 'string') return [type];
  if (type) return type;
  if (properties) return ['object'];
  return items ? ['array'] : [];
}
