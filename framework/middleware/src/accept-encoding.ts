import { readWeights } from './weights.ts';

/**
 * Those of `encodings` that `Accept-Encoding` allows, preferred ones first; none if the client prefers
 * the unchanged body (RFC 9110 §12.5.3).
 */
export function acceptedEncodings<Encoding extends string>(
  header: string | undefined,
  encodings: readonly Encoding[],
): readonly Encoding[] {
  const weights = new Map(readWeights(header ?? '').map(({ name, quality }) => [name, quality]));
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
