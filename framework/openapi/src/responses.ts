import { PROBLEM_TYPE, titleOf } from '@fw/core/extension';
import type { JsonSchema } from '@fw/core/schema';

import type { Components, Reference } from './components.ts';
import type { DocumentedMetadata, RateLimitPolicy } from './metadata.ts';

type Headers = Readonly<Record<string, Reference>>;

export interface Response {
  readonly description: string;
  readonly headers?: Headers;
  readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
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
  409: { description: 'The request conflicts with what is stored' },
  412: { description: 'A condition such as `If-Match` does not hold' },
  413: { description: 'The body is too large' },
  415: { description: 'The media type of the body is not accepted', headers: ['Accept'] },
  422: { description: 'The request does not fit its schema' },
  429: { description: 'Too many requests', headers: ['Retry-After'] },
  500: { description: 'The server failed; its log has more under `requestId`' },
  503: { description: 'Temporarily unavailable' },
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

/** The responses of a route, given its metadata. */
export interface RouteResponses {
  readonly metadata: DocumentedMetadata;
  readonly hasParams: boolean;
  readonly readsBody: boolean;
}

/** The error statuses that a route can have. */
export function errorStatuses({ metadata, hasParams, readsBody }: RouteResponses): number[] {
  const { validation, security, rateLimits, responses } = metadata;
  const statuses = [405, 500];
  if (validation) statuses.push(validation.status ?? 400);
  if (readsBody) statuses.push(400, 413, 415);
  if (security?.some((scheme) => Object.keys(scheme).length > 0)) statuses.push(401);
  if (hasParams) statuses.push(400, 404);
  if (rateLimits.length > 0) statuses.push(429);
  statuses.push(...Object.keys(responses).map(Number).filter(isError));
  return [...new Set(statuses)];
}

export function isError(status: number): boolean {
  return status >= 400;
}

/** An error response of the framework, as a shared component. */
export function shareError(
  components: Components,
  status: number,
  metadata: DocumentedMetadata,
): Reference {
  const said = metadata.responses[status];
  const known = ERRORS[status];
  const headers = {
    ...shareHeaders(components, [
      ...(known?.headers ?? []),
      ...(status === 429 ? rateLimitHeaders(metadata) : []),
    ]),
    ...shareOwnHeaders(components, { ...metadata.deprecation?.headers, ...said?.headers }),
  };
  const schema = components.add('schemas', 'Problem', PROBLEM);
  const mediaTypes = said?.mediaTypes ?? [PROBLEM_TYPE];
  const prefix = metadata.deprecation ? 'Deprecated' : '';
  return components.add('responses', prefix + titleOf(status).replace(/[^A-Za-z]/g, ''), {
    description: said?.description ?? describeError(status, metadata),
    ...(Object.keys(headers).length > 0 && { headers }),
    content: Object.fromEntries(mediaTypes.map((type) => [type, { schema }])),
  });
}

function describeError(status: number, { rateLimits }: DocumentedMetadata): string {
  const description = ERRORS[status]?.description ?? titleOf(status);
  const limits = rateLimits.flatMap(({ policies = [] }) =>
    policies.length > 0 ? [policies.map(describePolicy).join(' or ')] : [],
  );
  return status === 429 && limits.length > 0
    ? `${description}. Limits: ${limits.join('; ')}`
    : description;
}

function describePolicy({ name, limit, windowSeconds }: RateLimitPolicy): string {
  return `\`${name}\` (${limit} per ${windowSeconds} s)`;
}

/** A response that the route describes. */
export function describeAnswer(
  components: Components,
  {
    status,
    schema,
    metadata,
  }: { status: string; schema: JsonSchema | undefined; metadata: DocumentedMetadata },
): Response {
  const said = metadata.responses[Number(status)];
  const headers = {
    ...shareHeaders(components, rateLimitHeaders(metadata)),
    ...shareOwnHeaders(components, { ...metadata.deprecation?.headers, ...said?.headers }),
  };
  const mediaTypes = said?.mediaTypes ?? ['application/json'];
  const hasContent = (schema || said?.mediaTypes) && !BODYLESS.includes(status);
  const isText = (type: string) => !isJson(type) && mediaTypes.some(isJson);
  return {
    description: said?.description ?? (status === '2XX' ? 'Success' : titleOf(Number(status))),
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(hasContent && {
      content: Object.fromEntries(
        mediaTypes.map((type) => [type, { schema: isText(type) ? TEXT : (schema ?? {}) }]),
      ),
    }),
  };
}

/** The schema describes JSON; other media types contain the same as text. */
function isJson(type: string): boolean {
  return /[/+]json$/.test(type);
}

/** Responses that never have a body (RFC 9110 §15.3.5, §15.3.6, §15.4.5). */
const BODYLESS = ['204', '205', '304'];

function rateLimitHeaders({ rateLimits }: DocumentedMetadata): string[] {
  if (rateLimits.length === 0) return [];
  const isDraft10 = rateLimits.some(({ headers }) => headers === 'draft-10');
  return isDraft10 ? [...DRAFT_6, ...DRAFT_10] : DRAFT_6;
}

function shareHeaders(components: Components, names: readonly string[]): Headers {
  return Object.fromEntries(
    names.map((name) => [name, components.add('headers', name, HEADERS[name])]),
  );
}

function shareOwnHeaders(
  components: Components,
  headers: Readonly<Record<string, string>> = {},
): Headers {
  return Object.fromEntries(
    Object.entries(headers).map(([name, description]) => [
      name,
      components.add('headers', name, { description, schema: HEADERS[name]?.schema ?? TEXT }),
    ]),
  );
}
