import type { Context } from '@fw/core';
import { responseHeader, trimBlanks } from '@fw/core/extension';

/** One entry of a header such as `Accept`: a name in lower case and its weight (RFC 9110 §12.4.2). */
export interface Weighted {
  readonly name: string;
  /** 0 if the weight is not a number; 1 without a weight. */
  readonly quality: number;
}

/** The entries of `header` with their weights; other parameters are ignored. */
export function readWeights(header: string): readonly Weighted[] {
  return header.split(',').map((entry) => {
    const [name = '', ...parameters] = entry
      .split(';')
      .map((part) => trimBlanks(part).toLowerCase());
    const weight = parameters.find((parameter) => parameter.startsWith('q='));
    return { name, quality: weight === undefined ? 1 : Number(weight.slice(2)) || 0 };
  });
}

/**
 * Those of `encodings` that `Accept-Encoding` allows, preferred ones first; none without the header, and
 * none if the client prefers the unchanged body (RFC 9110 §12.5.3).
 */
export function acceptedEncodings<Encoding extends string>(
  header: string | undefined,
  encodings: readonly Encoding[],
): readonly Encoding[] {
  if (header === undefined) return [];
  const weights = new Map(readWeights(header).map(({ name, quality }) => [name, quality]));
  const weightOf = (name: string) => weights.get(name) ?? weights.get('*') ?? 0;
  const identity = weights.get('identity') ?? 0;
  return encodings
    .filter((encoding) => weightOf(encoding) > 0 && weightOf(encoding) >= identity)
    .sort((left, right) => weightOf(right) - weightOf(left));
}

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
