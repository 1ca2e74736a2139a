import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { folders, writeFile } from './state.ts';

/** Claims and key of a token. */
export interface TokenOptions {
  /** The secret of the services, at least 32 bytes. */
  readonly secret: string;
  readonly user: string;
  /** `free` or `pro`: the rate limit of the user. */
  readonly tier: string;
  /** Validity from now on. Default 24. */
  readonly hours?: number;
}

/** The file with the token secret of the local system. */
export function secretFile(run: string): string {
  return path.join(run, 'jwt-secret');
}

/** The token secret of the local system; randomly generated on first use. */
export function readOrCreateSecret(run: string): string {
  if (!fs.existsSync(secretFile(run))) keepSecret(run, randomBytes(32).toString('base64url'));
  return fs.readFileSync(secretFile(run), 'utf8').trim();
}

/** Makes `secret` the token secret of the local system. */
export function keepSecret(run: string, secret: string): void {
  writeFile(secretFile(run), `${secret}\n`);
}

/**
 * A bearer token with the default issuer of the services, for all of them: a JSON Web Token signed with
 * HS256 (RFC 7519, RFC 7515).
 */
export function issueToken({ secret, user, tier, hours = 24 }: TokenOptions): string {
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + Math.round(hours * 3_600);
  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
  const claims = encode({ iss: 'fw', aud: SERVICE_NAMES, sub: user, tier, iat, exp });
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${claims}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

/** `node token.ts --user ada --tier pro` prints a token. */
function printToken(args: readonly string[]): void {
  const { values } = parseArgs({
    args: [...args],
    options: {
      user: { type: 'string', default: '' },
      tier: { type: 'string', default: 'free' },
      hours: { type: 'string', default: '24' },
    },
  });
  const { user, tier } = values;
  const hours = Number(values.hours);
  if (!/^[\x21-\x7e]{1,128}$/.test(user)) {
    throw new Error(
      '--user must be 1 to 128 letters, digits or punctuation marks (make token USER=ada)',
    );
  }
  if (tier !== 'free' && tier !== 'pro') throw new Error('--tier must be free or pro');
  if (!(hours > 0 && hours <= 24 * 366)) throw new Error('--hours must be above 0, at most 8784');
  console.log(issueToken({ secret: readSecret(), user, tier, hours }));
}

/** `JWT_SECRET`, else the secret of the local system. */
function readSecret(): string {
  const { JWT_SECRET } = process.env;
  if (JWT_SECRET) {
    if (Buffer.byteLength(JWT_SECRET) >= 32) return JWT_SECRET;
    throw new Error('JWT_SECRET is too short: expected at least 32 bytes');
  }
  if (fs.existsSync(secretFile(folders.run))) return readOrCreateSecret(folders.run);
  throw new Error('There is no local system: start it with "make up", or set JWT_SECRET');
}

if (import.meta.main) {
  try {
    printToken(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
