import type { Context } from '@fw/core';
import { responseHeader } from '@fw/core/extension';

/** Adds the request header `name` to `Vary`, unless it already contains it (RFC 9110 §12.5.5). */
export function addVary(ctx: Context, name: string): void {
  const present = responseHeader(ctx, 'Vary');
  const names = present?.toLowerCase().split(/\s*,\s*/) ?? [];
  if (!names.includes('*') && !names.includes(name.toLowerCase())) ctx.append('Vary', name);
}
