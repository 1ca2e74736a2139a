import { errorCodes, PROBLEM_TYPE, titleOf } from '@fw/core/extension';
import { type JsonSchema, type Property, propertiesOf } from '@fw/core/schema';

import type { Components, Reference } from './components.ts';
import type { DocumentedMetadata, RateLimitPolicy } from './metadata.ts';
import type { DocumentedRoute } from './select-routes.ts';

type Headers = Readonly<Record<string, Reference>>;

export interface Response {
  readonly description: string;
  readonly headers?: Headers;
  readonly content?: Readonly<Record<string, MediaType>>;
}

/** The schema of a body, or of each event of a stream. */
export interface MediaType {
  readonly schema?: JsonSchema;
  readonly itemSchema?: JsonSchema;
}

/** Responses by status, including `2XX`. */
export type Responses = Readonly<Record<string, Response | Reference>>;

const INTEGER = { type: 'integer', minimum: 0 };
const TEXT = { type: 'string' };

/** The headers of the framework's own responses. */
const HEADERS: Readonly<Record<string, { description: string; schema: JsonSchema }>> = {
  Accept: { description: 'Accepted media types', schema: TEXT },
  Allow: { description: 'Allowed methods', schema: TEXT },
  'Retry-After': { description: 'Seconds to wait before the next request', schema: INTEGER },
  'WWW-Authenticate': { description: 'How to authenticate', schema: TEXT },
  'RateLimit-Limit': {
    description: 'Requests allowed in a window, by the strictest limit',
    schema: INTEGER,
  },
  'RateLimit-Remaining': {
    description: 'Requests left in this window, by the strictest limit',
    schema: INTEGER,
  },
  'RateLimit-Reset': {
    description: 'Seconds until the window of the strictest limit ends',
    schema: INTEGER,
  },
  'RateLimit-Policy': {
    description: 'The limits, as a list: `"default";q=100;w=60`',
    schema: TEXT,
  },
  RateLimit: {
    description: 'The remaining requests of each limit, as a list: `"default";r=99;t=60`',
    schema: TEXT,
  },
};

const DRAFT_6 = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const DRAFT_10 = ['RateLimit-Policy', 'RateLimit'];

/** Description and headers of each error. */
const ERRORS: Readonly<Record<number, { description: string; headers?: readonly string[] }>> = {
  400: { description: 'The request cannot be read, or does not fit its schema' },
  401: { description: 'Credentials are missing or wrong', headers: ['WWW-Authenticate'] },
  403: { description: 'These credentials do not allow it' },
  404: { description: 'Not found' },
  405: { description: 'The path does not allow this method', headers: ['Allow'] },
  406: { description: '`Accept` excludes the media types of the response' },
  409: { description: 'The request conflicts with what is stored' },
  412: { description: 'A condition such as `If-Match` does not hold' },
  413: { description: 'The body is too large' },
  415: { description: 'The media type of the body is not accepted', headers: ['Accept'] },
  422: { description: 'The request does not fit its schema' },
  429: { description: 'Too many requests', headers: ['Retry-After'] },
  500: { description: 'The server failed; its log has more under `requestId`' },
  502: {
    description: 'A proxy received no valid response from the service',
    headers: ['Retry-After'],
  },
  503: { description: 'Temporarily unavailable', headers: ['Retry-After'] },
  504: {
    description: 'A proxy received no response from the service in time',
    headers: ['Retry-After'],
  },
};

/** The body of every error response (RFC 9457). */
const PROBLEM: JsonSchema = {
  type: 'object',
  title: 'Problem',
  description: 'Why a request failed (RFC 9457)',
  required: ['type', 'title', 'status', 'detail', 'code'],
  properties: {
    type: {
      type: 'string',
      format: 'uri-reference',
      description: 'A URI that names the kind of problem; `about:blank` if the status explains it',
    },
    title: { type: 'string', description: 'The name of the status' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string', description: 'What was wrong with this request' },
    code: {
      type: 'string',
      description: 'A stable identifier to compare',
      examples: ['NOT_FOUND'],
    },
    requestId: { type: 'string', description: "The id of this request in the server's log" },
    errors: {
      type: 'array',
      description: 'Each part of the request that does not fit',
      items: {
        type: 'object',
        required: ['in', 'pointer', 'detail'],
        properties: {
          in: { enum: ['body', 'query', 'params', 'headers'] },
          pointer: {
            type: 'string',
            description: 'Where in that part, as a JSON Pointer (RFC 6901)',
            examples: ['/age'],
          },
          detail: { type: 'string' },
        },
      },
    },
  },
};

interface DescribeResponsesOptions {
  readonly components: Components;
  /** Adds the schema of a response to the document; its name follows that of the operation. */
  readonly convert: (schema: unknown, name?: string) => Promise<JsonSchema>;
}

/** The responses of a route; errors of the framework are shared components. */
export async function describeResponses(
  { method, metadata, pathParams }: DocumentedRoute,
  { components, convert }: DescribeResponsesOptions,
): Promise<Responses> {
  const schemas = metadata.endpoint.responses ?? {};
  const declared = [...Object.keys(schemas), ...Object.keys(metadata.responses)];
  const hasSuccess = declared.some((status) => !isError(status));
  const errors = errorCodes({ method, hasParams: pathParams.length > 0 }, metadata);
  const errorStatuses = [...errors.keys()].map(String);
  const statuses = new Set([...declared, ...(hasSuccess ? [] : ['2XX']), ...errorStatuses]);

  const itemSchema = await describeEvents(metadata, convert);
  const responses: Record<string, Response | Reference> = {};
  for (const status of [...statuses].sort()) {
    const given = schemas[Number(status)] ?? undefined;
    const codes = given === undefined ? errors.get(Number(status)) : undefined;
    const schema = given && (await convert(given));
    const problem = codes && (await describeProblem(codes, { components, convert }));
    responses[status] = describeResponse(components, {
      status,
      schema,
      problem,
      itemSchema,
      metadata,
    });
  }
  return responses;
}

const EVENT_STREAM = 'text/event-stream';

/** Whether a route sends an event stream. */
export function isStreaming({ responses }: DocumentedMetadata): boolean {
  return Object.values(responses).some(({ mediaTypes }) => mediaTypes?.includes(EVENT_STREAM));
}

/** The schema of one event as text, as OpenAPI 3.2.0 §4.14.3 models it: `data` contains JSON. */
async function describeEvents(
  { events = {} }: DocumentedMetadata,
  convert: DescribeResponsesOptions['convert'],
): Promise<JsonSchema> {
  const described = Object.entries(events).map(async ([name, schema]) => {
    const contentSchema = await convert(
      schema,
      `${name.charAt(0).toUpperCase()}${name.slice(1)}Event`,
    );
    const data = { ...TEXT, contentMediaType: 'application/json', contentSchema };
    const properties = { event: { const: name }, data, id: TEXT };
    return { type: 'object', required: ['event', 'data'], properties };
  });
  const [first = {}, ...others] = await Promise.all(described);
  return others.length > 0 ? { oneOf: [first, ...others] } : first;
}

function isError(status: string): boolean {
  return Number(status) >= 400;
}

/** The problem with one of `codes`; a code with members is an alternative of its own. */
async function describeProblem(
  codes: ReadonlyMap<string, unknown>,
  { components, convert }: DescribeResponsesOptions,
): Promise<JsonSchema> {
  const base = components.add('schemas', 'Problem', PROBLEM);
  const describe = (names: readonly string[], members: readonly Property[]): JsonSchema => {
    const required = members.filter((member) => member.required).map(({ name }) => name);
    const code = { type: 'string', enum: names };
    const properties = Object.fromEntries(members.map(({ name, schema }) => [name, schema]));
    const own = { properties: { code, ...properties }, ...(required.length > 0 && { required }) };
    return { allOf: [{ ...base }, own] };
  };
  const plain = [...codes.keys()].filter((code) => codes.get(code) === undefined).sort();
  const alternatives = plain.length > 0 ? [describe(plain, [])] : [];
  for (const [code, schema] of codes) {
    if (schema === undefined) continue;
    const { named: members } = propertiesOf(await convert(schema), ($ref) =>
      components.resolve({ $ref }),
    );
    alternatives.push(describe([code], members));
  }
  const [first, ...others] = alternatives;
  return first && others.length === 0 ? first : { oneOf: alternatives };
}

function describeResponse(
  components: Components,
  {
    status,
    schema,
    problem,
    itemSchema,
    metadata,
  }: {
    status: string;
    schema: JsonSchema | undefined;
    problem: JsonSchema | undefined;
    itemSchema: JsonSchema;
    metadata: DocumentedMetadata;
  },
): Response | Reference {
  const code = Number(status);
  const title = status === '2XX' ? 'Success' : titleOf(code);
  const { description, mediaTypes, headers: own } = metadata.responses[code] ?? {};
  const isShared = problem !== undefined;
  const limits = !isShared || code === 429 ? rateLimitHeaders(metadata, code) : [];
  const names = [...((isShared && ERRORS[code]?.headers) || []), ...limits];
  const headers = shareHeaders(components, [
    ...names.map((name): [string, string] => [name, HEADERS[name]?.description ?? '']),
    ...Object.entries({ ...metadata.deprecation?.headers, ...own }),
  ]);
  const body = problem ?? schema;
  const types = mediaTypes ?? [isShared ? PROBLEM_TYPE : 'application/json'];
  const hasContent = (body || mediaTypes) && !BODYLESS.includes(status);
  const response = {
    description: description ?? (isShared ? describeError(code, metadata) : title),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(hasContent && { content: contentOf(types, { schema: body ?? {}, itemSchema }) }),
  };
  if (!isShared) return response;
  const prefix = metadata.deprecation ? 'Deprecated' : '';
  return components.add('responses', prefix + title.replace(/[^A-Za-z]/g, ''), response);
}

/** The schema describes JSON; other media types contain the same as text. */
function contentOf(
  types: readonly string[],
  { schema, itemSchema }: Required<MediaType>,
): NonNullable<Response['content']> {
  const hasJson = types.some(isJson);
  return Object.fromEntries(
    types.map((type) => [
      type,
      type === EVENT_STREAM ? { itemSchema } : { schema: hasJson && !isJson(type) ? TEXT : schema },
    ]),
  );
}

function isJson(type: string): boolean {
  return /[/+]json$/.test(type);
}

function describeError(code: number, { rateLimit }: DocumentedMetadata): string {
  const description = ERRORS[code]?.description ?? titleOf(code);
  const limits = rateLimit.flatMap(({ policies = [] }) =>
    policies.length > 0 ? [policies.map(describePolicy).join(' or ')] : [],
  );
  return code === 429 && limits.length > 0
    ? `${description}. Limits: ${limits.join('; ')}`
    : description;
}

function describePolicy({ name, limit, windowSeconds }: RateLimitPolicy): string {
  return `\`${name}\` (${limit} per ${windowSeconds} s)`;
}

/** Responses that never have a body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
const BODYLESS = ['204', '205', '304'];

function rateLimitHeaders({ rateLimit }: DocumentedMetadata, status: number): string[] {
  const limits = rateLimit.filter(
    ({ countOnly }) => status === 429 || (countOnly?.includes(status) ?? true),
  );
  if (limits.length === 0) return [];
  const isDraft10 = limits.some(({ headers }) => headers === 'draft-10');
  return isDraft10 ? [...DRAFT_6, ...DRAFT_10] : DRAFT_6;
}

/** Adds headers, given with their descriptions. */
function shareHeaders(components: Components, headers: readonly [string, string][]): Headers {
  return Object.fromEntries(
    headers.map(([name, description]) => [
      name,
      components.add('headers', name, { description, schema: HEADERS[name]?.schema ?? TEXT }),
    ]),
  );
}
