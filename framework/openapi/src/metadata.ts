import type { RouteMetadata } from '@fw/core';
import type { EndpointMetadata } from '@fw/router';

/** What a validator says: a schema for each part of a request, and the status that refuses it. */
export interface ValidationMetadata {
  readonly body?: unknown;
  readonly query?: unknown;
  readonly params?: unknown;
  readonly headers?: unknown;
  readonly status?: 400 | 422;
}

/** A rate limiter: the headers that it sets, and its policies, one of which counts each request. */
export interface RateLimitMetadata {
  readonly headers?: 'draft-6' | 'draft-10';
  readonly policies?: readonly RateLimitPolicy[];
}

export interface RateLimitPolicy {
  readonly name: string;
  readonly limit: number;
  readonly windowSeconds: number;
}

/** What a body parser says. */
export interface BodyMetadata {
  readonly mediaTypes: readonly string[];
  readonly limit?: number;
}

/** How a middleware describes one response that it sends. */
export interface ResponseMetadata {
  /** Default: the name of the status. */
  readonly description?: string;
  /** A description by header name. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default `application/json`, or `application/problem+json` from 400 on. */
  readonly mediaTypes?: readonly string[];
}

/** Everything that the middleware of a route may say of it. */
export interface DocumentedMetadata {
  readonly endpoint: EndpointMetadata;
  readonly validation: ValidationMetadata | undefined;
  readonly rateLimits: readonly RateLimitMetadata[];
  readonly body: BodyMetadata | undefined;
  readonly responses: Readonly<Record<number, ResponseMetadata>>;
  readonly security: EndpointMetadata['security'];
}

/** The keys of a route's metadata, as the packages agree on them; `annotate` takes any. */
interface KnownKeys extends RouteMetadata {
  readonly endpoint?: EndpointMetadata;
  readonly validation?: ValidationMetadata;
  readonly rateLimit?: readonly RateLimitMetadata[];
  readonly body?: BodyMetadata;
  readonly responses?: Readonly<Record<number, ResponseMetadata>>;
  readonly security?: EndpointMetadata['security'];
}

/** Reads what the middleware of a route says of it; what is missing says nothing. */
export function readMetadata(metadata: RouteMetadata): DocumentedMetadata {
  const known: KnownKeys = metadata;
  const endpoint = known.endpoint ?? {};
  return {
    endpoint,
    validation: known.validation,
    rateLimits: known.rateLimit ?? [],
    body: known.body,
    responses: known.responses ?? {},
    security: endpoint.security ?? known.security,
  };
}
