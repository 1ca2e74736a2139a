import type { DeclaredError, EndpointMetadata, ResponseDescription, RouteMetadata } from '@fw/core';
import type { JsonSchema } from '@fw/core/schema';

/** The parts of a request that a schema can describe. */
export const PARTS = ['params', 'query', 'headers', 'body'] as const;

/** The metadata of a validator: a schema per request part, and the status of an invalid request. */
interface ValidationMetadata extends Readonly<Partial<Record<(typeof PARTS)[number], unknown>>> {
  readonly status?: 400 | 422;
}

/** The metadata of a rate limiter: its headers and policies. */
export interface RateLimitMetadata {
  readonly headers?: 'draft-6' | 'draft-10';
  readonly policies?: readonly RateLimitPolicy[];
  /** The statuses whose responses have the headers, besides 429. Default: all. */
  readonly countOnly?: readonly number[];
}

export interface RateLimitPolicy {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** The metadata of a body parser. */
export interface BodyMetadata {
  readonly mediaTypes: readonly string[];
  readonly limit?: number;
  /** Errors with codes of its own. */
  readonly errors?: readonly DeclaredError[];
}

/** A request header that middleware reads. */
export interface RequestHeader {
  readonly schema: JsonSchema;
  readonly required: boolean;
}

/** All metadata of a route, under the keys that the packages share; `annotate` accepts any key. */
export interface DocumentedMetadata {
  readonly endpoint: EndpointMetadata;
  readonly validation?: ValidationMetadata;
  /** A JSON Schema by name of each request header that middleware reads. */
  readonly requestHeaders: Readonly<Record<string, RequestHeader>>;
  readonly rateLimit: readonly RateLimitMetadata[];
  readonly body: BodyMetadata | undefined;
  /** Of an old version: a description by name of each header that all responses have. */
  readonly deprecation?: { readonly headers: Readonly<Record<string, string>> };
  readonly responses: Readonly<Record<number, ResponseDescription>>;
  readonly security: EndpointMetadata['security'];
  /** The schemes of guards, by the names that `security` uses. */
  readonly securitySchemes: Readonly<Record<string, unknown>>;
  readonly errors: readonly DeclaredError[];
  /** The schemas of the events of a stream, by name. */
  readonly events?: Readonly<Record<string, unknown>>;
}

/** Reads the metadata of a route; `endpoint()` takes precedence over middleware. */
export function readMetadata(metadata: RouteMetadata): DocumentedMetadata {
  const known: RouteMetadata & Partial<DocumentedMetadata> = metadata;
  const { endpoint = {}, body } = known;
  return {
    ...{ requestHeaders: {}, rateLimit: [], responses: {}, securitySchemes: {}, errors: [] },
    ...known,
    endpoint,
    body: endpoint.bodyTypes ? { ...body, mediaTypes: endpoint.bodyTypes } : body,
    security: endpoint.security ?? known.security,
  };
}
