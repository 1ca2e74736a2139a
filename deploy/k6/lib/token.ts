import { hmac } from 'k6/crypto';
import { b64encode } from 'k6/encoding';

/** Whether each user has its own token; with `TOKEN`, all share that one. */
export const hasTokens = !__ENV.TOKEN;

/**
 * The Authorization header of `user`: `TOKEN` if set, else a JSON Web Token valid for one hour, signed
 * with `JWT_SECRET` (HS256; RFC 7519, RFC 7515).
 */
export function authorization(user: string, tier: 'free' | 'pro'): { authorization: string } {
  return { authorization: `Bearer ${__ENV.TOKEN || issueToken(user, tier)}` };
}

function issueToken(user: string, tier: string): string {
  const secret = __ENV.JWT_SECRET;
  if (!secret) throw new Error('Cannot create a token: set TOKEN or JWT_SECRET');
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    iss: __ENV.JWT_ISSUER || 'fw',
    aud: __ENV.JWT_AUDIENCE || 'reports',
    sub: user,
    tier,
    iat,
    exp: iat + 3_600,
  };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${hmac('sha256', secret, signed, 'base64rawurl')}`;
}

function encode(part: object): string {
  return b64encode(JSON.stringify(part), 'rawurl');
}
