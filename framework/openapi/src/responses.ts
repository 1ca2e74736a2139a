import { errorCodes, PROBLEM_TYPE, titleOf } from '@fw/core/extension';
import { type JsonSchema, type Property, propertiesOf } from '@fw/core/schema';

import type { Components, Reference } from './components.ts';
import type { DocumentedMetadata, RateLimitPolicy } from './metadata.ts';
import type { DocumentedRoute } from './select-routes.ts';

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
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
const HEADERS: Readonly<Record<string, readonly [description: string, schema: JsonSchema]>> = {
  Accept: ['Accepted media types', TEXT],
  Allow: ['Allowed methods', TEXT],
  'Retry-After': ['Seconds to wait before the next request', INTEGER],
  'WWW-Authenticate': ['How to authenticate', TEXT],
  'RateLimit-Limit': ['Requests allowed in a window, by the strictest limit', INTEGER],
  'RateLimit-Remaining': ['Requests left in this window, by the strictest limit', INTEGER],
  'RateLimit-Reset': ['Seconds until the window of the strictest limit ends', INTEGER],
  'RateLimit-Policy': ['The limits, as a list: `"default";q=100;w=60`', TEXT],
  RateLimit: ['The remaining requests of each limit, as a list: `"default";r=99;t=60`', TEXT],
};

const DRAFT_6 = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];
const DRAFT_10 = ['RateLimit-Policy', 'RateLimit'];

/** Description and headers of each error. */
const ERRORS: Readonly<Record<number, readonly [description: string, ...headers: string[]]>> = {
  400: ['The request cannot be read, or does not fit its schema'],
  401: ['Credentials are missing or wrong', 'WWW-Authenticate'],
  403: ['These credentials do not allow it'],
  404: ['Not found'],
  405: ['The path does not allow this method', 'Allow'],
  406: ['`Accept` excludes the media types of the response'],
  409: ['The request conflicts with what is stored'],
  412: ['A condition such as `If-Match` does not hold'],
  413: ['The body is too large'],
  415: ['The media type of the body is not accepted', 'Accept'],
  422: ['The request does not fit its schema'],
  429: ['Too many requests', 'Retry-After'],
  500: ['The server failed; its log has more under `requestId`'],
  502: ['A proxy received no valid response from the service', 'Retry-After'],
  503: ['Temporarily unavailable', 'Retry-After'],
  504: ['A proxy received no response from the service in time', 'Retry-After'],
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
    const response = { status, schema, problem, itemSchema, metadata };
    responses[status] = describeResponse(components, response);
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

interface ResponseParts {
  readonly status: string;
  readonly schema: JsonSchema | undefined;
  readonly problem: JsonSchema | undefined;
  readonly itemSchema: JsonSchema;
  readonly metadata: DocumentedMetadata;
}

function describeResponse(
  components: Components,
  { status, schema, problem, itemSchema, metadata }: ResponseParts,
): Response | Reference {
  const code = Number(status);
  const title = status === '2XX' ? 'Success' : titleOf(code);
  const { description, mediaTypes, headers: own } = metadata.responses[code] ?? {};
  const [problemTitle = title, ...problemHeaders] = (problem && ERRORS[code]) ?? [];
  const limits = !problem || code === 429 ? rateLimitHeaders(metadata, code) : [];
  const names = [...problemHeaders, ...limits];
  const headers = [
    ...names.map((name) => [name, HEADERS[name]?.[0]] as const),
    ...Object.entries({ ...metadata.deprecation?.headers, ...own }),
  ].map(([name, text]) => {
    const header = { description: text, schema: HEADERS[name]?.[1] ?? TEXT };
    return [name, components.add('headers', name, header)];
  });
  const body = problem ?? schema;
  const types = mediaTypes ?? [problem ? PROBLEM_TYPE : 'application/json'];
  const hasContent = (body || mediaTypes) && !BODYLESS.includes(status);
  const response = {
    description: description ?? problemTitle + (problem ? describeLimits(code, metadata) : ''),
    ...(headers.length > 0 && { headers: Object.fromEntries(headers) }),
    ...(hasContent && { content: contentOf(types, { schema: body ?? {}, itemSchema }) }),
  };
  if (!problem) return response;
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

/** The limits of a route, as the end of the description of 429. */
function describeLimits(code: number, { rateLimit }: DocumentedMetadata): string {
  const limits = rateLimit.flatMap(({ policies = [] }) =>
    policies.length > 0 ? [policies.map(describePolicy).join(' or ')] : [],
  );
  return code === 429 && limits.length > 0 ? `. Limits: ${limits.join('; ')}` : '';
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
