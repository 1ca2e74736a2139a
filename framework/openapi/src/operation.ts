import { foldCase } from '@fw/core/extension';
import { anObject } from '@fw/core/options';
import { type Direction, type JsonSchema, toJsonSchema } from '@fw/core/schema';

import type { Components } from './components.ts';
import type { BodyMetadata, DocumentedMetadata } from './metadata.ts';
import { type PathParam, readPathParams } from './paths.ts';
import { describeAnswer, errorStatuses, isError, type Responses, shareError } from './responses.ts';

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

/** A route to document. */
export interface DocumentedRoute {
  readonly method: string;
  readonly path: string;
  readonly metadata: DocumentedMetadata;
  /** The path in OpenAPI syntax. */
  readonly template: string;
  /** The parameter names in the document, in order. */
  readonly paramNames: readonly string[];
  readonly operationId: string;
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
const METHODS_WITH_BODY = ['POST', 'PUT', 'PATCH', 'QUERY'];

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
    responses: await describeResponses(route, { components, convert, readsBody: !!requestBody }),
  };
}

async function describeParameters(
  { path, paramNames, operationId, metadata }: DocumentedRoute,
  { components, convert }: { components: Components; convert: Convert },
): Promise<Parameter[]> {
  const { validation = {} } = metadata;
  const params = await propertiesOf(validation.params, 'Params');
  const query = await propertiesOf(validation.query, 'Query');
  const headers = await propertiesOf(validation.headers, 'Headers');
  return [
    ...readPathParams(path).map((param, index) =>
      describePathParam(param, {
        name: paramNames[index] ?? param.name,
        schema: params.find(({ name }) => name === param.key)?.schema,
      }),
    ),
    ...query.map((property) => describeProperty('query', property)),
    ...headers
      .filter(({ name }) => !HEADERS_OF_THEIR_OWN.includes(foldCase(name)))
      .map((property) => describeProperty('header', property)),
  ];

  async function propertiesOf(schema: unknown, name: string): Promise<Property[]> {
    if (schema === undefined) return [];
    return readProperties(await convert(schema, 'input', operationId + name), components);
  }
}

/** The characters of a segment: a path with a backslash or NUL, also percent-encoded, gets 400. */
const SEGMENT = { type: 'string', minLength: 1, pattern: '^[^\\\\\\x00]+$' };

function describePathParam(
  { isWildcard }: PathParam,
  { name, schema = SEGMENT }: { name: string; schema: JsonSchema | undefined },
): Parameter {
  const description = isWildcard
    ? 'The rest of the path: one or more segments, their slashes as they are'
    : schema.description;
  return {
    name,
    in: 'path',
    required: true,
    ...(typeof description === 'string' && { description }),
    schema,
    ...(isWildcard && { 'x-wildcard': true }),
  };
}

interface Property {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
}

function describeProperty(place: 'query' | 'header', property: Property): Parameter {
  const { name, schema, required } = property;
  const { description } = schema;
  return {
    name,
    in: place,
    required,
    ...(typeof description === 'string' && { description }),
    schema,
  };
}

/** The properties of an object schema, including referenced and combined schemas. */
function readProperties(schema: JsonSchema, components: Components, depth = 0): Property[] {
  const { properties = {}, required = [], allOf = [] } = components.resolve(schema);
  const names: unknown[] = Array.isArray(required) ? required : [];
  const own = Object.entries(properties ?? {}).map(([name, part]) => ({
    name,
    schema: part === true ? {} : (part as JsonSchema),
    required: names.includes(name),
  }));
  const isNested = depth < 8; // a schema that combines itself has no end
  const parts: JsonSchema[] = Array.isArray(allOf) && isNested ? allOf : [];
  const combined = parts.flatMap((part) => readProperties(part, components, depth + 1));
  return [...new Map([...combined, ...own].map((each) => [each.name, each])).values()];
}

async function describeBody(
  { method, metadata, operationId }: DocumentedRoute,
  convert: Convert,
): Promise<RequestBody | undefined> {
  const { validation, body } = metadata;
  const isParsed = body !== undefined && METHODS_WITH_BODY.includes(method);
  if (validation?.body === undefined && !isParsed) return undefined;
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
  const { validate } = (schema as Partial<Validating> | null)?.['~standard'] ?? {};
  if (typeof validate !== 'function') return false;
  try {
    return (await validate(undefined))?.issues === undefined;
  } catch {
    return false; // a schema that throws accepts nothing
  }
}

/** The validation function of a Standard Schema. */
interface Validating {
  readonly '~standard': {
    readonly validate?: (value: unknown) => { readonly issues?: unknown } | undefined;
  };
}

/** The media types without ranges such as `application/*+json`. */
function bodyTypes(body: BodyMetadata | undefined): readonly string[] {
  const types = body?.mediaTypes.filter((type) => !type.includes('*')) ?? [];
  return types.length > 0 ? types : ['application/json'];
}

async function describeResponses(
  { path, metadata, operationId }: DocumentedRoute,
  {
    components,
    convert,
    readsBody,
  }: { components: Components; convert: Convert; readsBody: boolean },
): Promise<Responses> {
  const schemas = Object.entries(metadata.endpoint.responses ?? {});
  const statuses = new Set([
    ...schemas.map(([status]) => status),
    ...Object.keys(metadata.responses),
  ]);
  const hasSuccess = [...statuses].some((status) => !isError(Number(status)));
  if (!hasSuccess) statuses.add('2XX');
  const hasParams = readPathParams(path).length > 0;
  for (const status of errorStatuses({ metadata, hasParams, readsBody })) statuses.add(`${status}`);

  const responses: Record<string, Responses[string]> = {};
  for (const status of [...statuses].sort()) {
    const given = metadata.endpoint.responses?.[Number(status)] ?? undefined;
    responses[status] =
      given === undefined && isError(Number(status))
        ? shareError(components, Number(status), metadata)
        : describeAnswer(components, {
            status,
            schema: given && (await convert(given, 'output', `${operationId}Response`)),
            metadata,
          });
  }
  return responses;
}
