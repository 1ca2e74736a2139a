import { hash } from 'node:crypto';

import { type Context, type Middleware, markFactories } from '@fw/core';
import { hasDefaultCacheControl, isStream, recordedBody, responseHeader } from '@fw/core/extension';
import { aBoolean, readOptions } from '@fw/core/options';
import { matchesIfNoneMatch } from './preconditions.ts';
import { hasCacheDirective } from './shared/response-headers.ts';

export interface EtagOptions {
  /** Whether the tags are weak: equal content, but perhaps not equal bytes. Default false. */
  readonly weak?: boolean;
}

/**
 * Adds an entity tag, the hash of the body, to responses to GET and HEAD with status 200, and responds
 * with 304 if `If-None-Match` contains it (RFC 9110 §13.1.2). A tag that the handler set is kept. The
 * default `Cache-Control: no-store` of a service becomes `no-cache` with a tag.
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 */
export function etag(options: EtagOptions = {}): Middleware {
  const { weak = false } = readOptions('etag()', options, { weak: aBoolean });
  return async (ctx, next) => {
    await next();
    if (!isCacheable(ctx)) return;
    const tag = responseHeader(ctx, 'ETag') ?? tagOfBody(ctx, weak);
    if (tag === undefined) return;
    ctx.set('ETag', tag);
    if (hasDefaultCacheControl(ctx)) ctx.set('Cache-Control', 'no-cache');
    if (matchesIfNoneMatch(ctx, tag)) ctx.status = 304;
  };
}

/** Whether a client may store the response and ask later whether it is current. */
function isCacheable(ctx: Context): boolean {
  const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
  if (!isRead || ctx.status !== 200) return false;
  return hasDefaultCacheControl(ctx) || !hasCacheDirective(ctx, 'no-store');
}

/** `undefined` for a stream: its bytes are not known before it is sent. */
function tagOfBody(ctx: Context, weak: boolean): string | undefined {
  const body = recordedBody(ctx);
  if (body === undefined || isStream(body)) return undefined;
  return `${weak ? 'W/' : ''}"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
}

markFactories({ etag });
