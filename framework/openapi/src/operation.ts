import { foldCase, readsBody } from '@fw/core/extension';
import { anObject } from '@fw/core/options';
import {
  type Direction,
  isStandardSchema,
  type JsonSchema,
  type Properties,
  type Property,
  propertiesOf,
  toJsonSchema,
} from '@fw/core/schema';

import type { Components } from './components.ts';
import type { BodyMetadata } from './metadata.ts';
import { describeResponses, type Responses } from './responses.ts';
import type { DocumentedRoute } from './select-routes.ts';

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: JsonSchema;
  /** Represents one or more segments: slashes are not escaped. */
  readonly 'x-wildcard'?: true;
}

export interface RequestBody {
  readonly required: boolean;
  readonly content: Readonly<Record<string, { readonly schema: JsonSchema }>>;
}

/** One method of one path. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: true;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: RequestBody;
  readonly responses: Responses;
}

/** Overrides the conversion of a schema; returns `undefined` for the default conversion. */
export type ToJsonSchema = (schema: unknown, direction: Direction) => unknown;

export interface DescribeOptions {
  readonly components: Components;
  readonly toJsonSchema: ToJsonSchema | undefined;
}

/** Adds a schema of a route to the document, as `name` if it needs a name. */
type Convert = (schema: unknown, direction: Direction, name: string) => Promise<JsonSchema>;

const HEADERS_OF_THEIR_OWN = ['accept', 'content-type', 'authorization'];

/** Describes a route as an operation; shared parts are added to `components`. */
export async function describeOperation(
  route: DocumentedRoute,
  { components, toJsonSchema: override }: DescribeOptions,
): Promise<Operation> {
  const { endpoint, security, deprecation } = route.metadata;
  const convert: Convert = async (schema, direction, name) => {
    const overridden = await override?.(schema, direction);
    return components.addSchema(
      anObject.accepts(overridden) ? (overridden as JsonSchema) : toJsonSchema(schema, direction),
      { name, suffix: direction === 'input' ? 'Input' : 'Output' },
    );
  };
  const parameters = await describeParameters(route, { components, convert });
  const requestBody = await describeBody(route, convert);
  return {
    operationId: route.operationId,
    summary: endpoint.summary ?? `${route.method} ${route.template}`,
    ...(endpoint.description !== undefined && { description: endpoint.description }),
    ...(endpoint.tags && { tags: endpoint.tags }),
    ...((endpoint.deprecated || deprecation) && { deprecated: true }),
    ...(security && { security }),
    ...(parameters.length > 0 && { parameters }),
    ...(requestBody && { requestBody }),
    responses: await describeResponses(route, {
      components,
      convert: (schema, name = 'Response') => convert(schema, 'output', route.operationId + name),
    }),
  };
}

async function describeParameters(
  route: DocumentedRoute,
  { components, convert }: { components: Components; convert: Convert },
): Promise<Parameter[]> {
  const { pathParams, operationId, metadata } = route;
  const { validation = {}, requestHeaders } = metadata;
  const read = async (part: 'params' | 'query' | 'headers', name: string): Promise<Properties> => {
    const schema = validation[part];
    const converted =
      schema === undefined ? {} : await convert(schema, 'input', operationId + name);
    return propertiesOf(converted, ($ref) => components.resolve({ $ref }));
  };
  const { named: params } = await read('params', 'Params');
  const query = requireNames(route, 'query', await read('query', 'Query'));
  const headers = requireNames(route, 'headers', await read('headers', 'Headers'));
  return [
    ...pathParams.map(({ key, name, isWildcard }) => {
      const { schema = SEGMENT } = params.find((each) => each.name === key) ?? {};
      const property = { name, schema, required: true };
      if (!isWildcard) return describeParameter('path', property);
      return { ...describeParameter('path', property, REST), 'x-wildcard': true as const };
    }),
    ...query.map((property) => describeParameter('query', property)),
    ...headers
      .filter(({ name }) => !HEADERS_OF_THEIR_OWN.includes(foldCase(name)))
      .map((property) => describeParameter('header', property)),
    ...Object.entries(requestHeaders).map(([name, header]) =>
      describeParameter('header', { name, ...header }),
    ),
  ];
}

/**
 * Rejects what a document cannot describe, before it is built.
 *
 * @throws {TypeError} if the schema of a query or of headers describes values of any name
 */
export function requireNamedParameters(routes: readonly DocumentedRoute[]): void {
  for (const route of routes) {
    for (const part of ['query', 'headers'] as const) {
      const schema = toJsonSchema(route.metadata.validation?.[part], 'input');
      requireNames(route, part, propertiesOf(schema));
    }
  }
}

function requireNames(
  { method, path }: DocumentedRoute,
  part: 'query' | 'headers',
  { named, hasUnnamed }: Properties,
): readonly Property[] {
  if (!hasUnnamed) return named;
  throw new TypeError(
    `Cannot document the ${part} of ${method} ${path}: the schema describes values of any name, expected an object with named properties`,
  );
}

/** The characters of a segment: a path with a backslash or NUL, also percent-encoded, gets 400. */
const SEGMENT = { type: 'string', minLength: 1, pattern: '^[^\\\\\\x00]+$' };

const REST = 'The rest of the path: one or more segments, their slashes as they are';

function describeParameter(
  place: Parameter['in'],
  { name, schema, required }: Property,
  description = schema.description,
): Parameter {
  return {
    name,
    in: place,
    required,
    ...(typeof description === 'string' && { description }),
    schema,
  };
}

async function describeBody(
  { method, metadata, operationId }: DocumentedRoute,
  convert: Convert,
): Promise<RequestBody | undefined> {
  if (!readsBody(method, metadata)) return undefined;
  const { validation, body } = metadata;
  const schema =
    validation?.body === undefined
      ? {}
      : await convert(validation.body, 'input', `${operationId}Body`);
  return {
    required: validation?.body !== undefined && !(await acceptsNoBody(validation.body)),
    content: Object.fromEntries(bodyTypes(body).map((type) => [type, { schema }])),
  };
}

/** Whether `schema` accepts a request without a body (`undefined`). */
async function acceptsNoBody(schema: unknown): Promise<boolean> {
  if (!isStandardSchema(schema)) return false;
  try {
    return (await schema['~standard'].validate(undefined)).issues === undefined;
  } catch {
    return false; // a schema that throws accepts nothing
  }
}

/** The media types without ranges such as `application/*+json`. */
function bodyTypes(body: BodyMetadata | undefined): readonly string[] {
  const types = body?.mediaTypes.filter((type) => !type.includes('*')) ?? [];
  return types.length > 0 ? types : ['application/json'];
}
