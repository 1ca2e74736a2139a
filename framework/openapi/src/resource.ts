import { createHash } from 'node:crypto';

import type { Context } from '@fw/core';
import { trimBlanks } from '@fw/core/body';
import { setCacheDefault } from '@fw/core/extension';

/** A text with its ETag and media type. */
export interface Resource {
  readonly body: string;
  readonly etag: string;
  readonly headers: Readonly<Record<string, string>>;
}

export function createResource(body: string, headers: Readonly<Record<string, string>>): Resource {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return { body, etag, headers: { 'X-Content-Type-Options': 'nosniff', ...headers } };
}

/** Sends `resource`, or 304 if the client already has it (RFC 9110 §13.1.2). */
export function sendResource(ctx: Context, { body, etag, headers }: Resource): void {
  ctx.set('ETag', etag);
  setCacheDefault(ctx, 'no-cache');
  if (isKnown(ctx.get('if-none-match'), etag)) {
    ctx.status = 304;
    ctx.send('');
    return;
  }
  for (const [name, value] of Object.entries(headers)) ctx.set(name, value);
  ctx.status = 200;
  ctx.send(body);
}

function isKnown(condition: string | undefined, etag: string): boolean {
  const known = condition?.split(',').map((tag) => trimBlanks(tag).replace(/^W\//, '')) ?? [];
  return known.includes(etag) || known.includes('*');
}

/** Builds on the first call; concurrent calls share the build, and a failure is not cached. */
export function once<T>(build: () => Promise<T>): () => Promise<T> {
  let built: Promise<T> | undefined;
  return () => {
    built ??= build().catch((error: unknown) => {
      built = undefined;
      throw error;
    });
    return built;
  };
}
