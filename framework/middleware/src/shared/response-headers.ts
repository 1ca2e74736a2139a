import type { Context } from '@fw/core';
import { responseHeader } from '@fw/core/extension';

const COMPRESSIBLE_TYPE =
  /^(?:text\/(?!event-stream$).*|.*\+(?:json|xml|yaml)|application\/(?:javascript|json|wasm|x-ndjson|xml|yaml)|font\/[ot]tf|image\/(?:bmp|x-icon|vnd\.microsoft\.icon))$/i;

/** Whether content of this `Content-Type` becomes smaller by compression and need not be sent at once. */
export function isCompressibleType(contentType: string): boolean {
  const [type = ''] = contentType.split(';');
  return COMPRESSIBLE_TYPE.test(type.trim());
}

/** Adds the request header `name` to `Vary`, unless it already contains it (RFC 9110 §12.5.5). */
export function addVary(ctx: Context, name: string): void {
  const present = responseHeader(ctx, 'Vary');
  const names = present?.toLowerCase().split(/\s*,\s*/) ?? [];
  if (!names.includes('*') && !names.includes(name.toLowerCase())) ctx.append('Vary', name);
}

/** Whether the `Cache-Control` of the response contains `directive` (RFC 9111 §5.2.2). */
export function hasCacheDirective(ctx: Context, directive: string): boolean {
  const directives = responseHeader(ctx, 'Cache-Control')?.toLowerCase().split(',') ?? [];
  return directives.some((one) => one.trim() === directive);
}
