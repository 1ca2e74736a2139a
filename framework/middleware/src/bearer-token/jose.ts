import { loadOptional } from '@fw/core/extension';

const jose = loadOptional('jose', {
  user: 'bearerToken()',
  from: import.meta.url,
  bundled: (): typeof import('jose') => require('jose'),
});

export const { createRemoteJWKSet, errors, jwtVerify } = jose;
/** A unique symbol, which needs its own declaration. */
export const customFetch: typeof import('jose').customFetch = jose.customFetch;
