import { createHmac, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { folders } from './state.ts';

/** What `issueToken` puts into a token. */
export interface TokenOptions {
  /** What the services check tokens with: at least 32 bytes. */
  readonly secret: string;
  /** Whose token it is. */
  readonly user: string;
  /** `free` or `pro`: how much the user may ask for. */
  readonly tier: string;
  /** How long it is valid from now on. Default 24. */
  readonly hours?: number;
}

/** What services expect where nothing else is set: see `make config`. */
const ISSUER = 'fw';
const AUDIENCE = 'reports';

/** The file that holds the secret of this machine's tokens. */
export function secretFile(run: string): string {
  return path.join(run, 'jwt-secret');
}

/** The secret of this machine's tokens: the one already there, or a new random one, for its owner's eyes only. */
export function readOrCreateSecret(run: string): string {
  const file = secretFile(run);
  if (!fs.existsSync(file)) {
    fs.mkdirSync(run, { recursive: true });
    const draft = `${file}.${process.pid}`;
    fs.writeFileSync(draft, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600 });
    try {
      // Of two that start at once one makes the link: both then read its secret, and never half of it.
      fs.linkSync(draft, file);
    } catch (error) {
      if (!fs.existsSync(file)) throw error;
    }
    fs.rmSync(draft, { force: true });
  }
  return fs.readFileSync(file, 'utf8').trim();
}

/** Takes `secret` for that of this machine's tokens, in place of the one there. */
export function keepSecret(run: string, secret: string): void {
  fs.mkdirSync(run, { recursive: true });
  const draft = `${secretFile(run)}.${process.pid}`;
  fs.writeFileSync(draft, `${secret}\n`, { mode: 0o600 });
  fs.renameSync(draft, secretFile(run));
}

/** A bearer token of the local system: a JSON Web Token signed by HS256 (RFC 7519, RFC 7515). */
export function issueToken({ secret, user, tier, hours = 24 }: TokenOptions): string {
  const iat = Math.floor(Date.now() / 1000);
  const exp = iat + Math.round(hours * 3_600);
  const claims = { iss: ISSUER, aud: AUDIENCE, sub: user, tier, iat, exp };
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

/** Prints a token for the system that `make up` has started here, or that checks with JWT_SECRET. */
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
    throw new Error('--user must be 1 to 128 letters, digits or signs (make token USER=ada)');
  }
  if (tier !== 'free' && tier !== 'pro') throw new Error('--tier must be free or pro');
  if (!(hours > 0 && hours <= 24 * 366)) throw new Error('--hours must be above 0, at most 8784');
  console.log(issueToken({ secret: givenSecret() ?? keptSecret(), user, tier, hours }));
}

/** The secret of a system elsewhere. */
function givenSecret(): string | undefined {
  const secret = process.env.JWT_SECRET;
  if (!secret || Buffer.byteLength(secret) >= 32) return secret || undefined;
  throw new Error('JWT_SECRET is too short: expected at least 32 bytes');
}

function keptSecret(): string {
  if (fs.existsSync(secretFile(folders.run))) return readOrCreateSecret(folders.run);
  throw new Error(
    'There is no local system to make a token for: start it with "make up", or set JWT_SECRET',
  );
}

if (import.meta.main) {
  try {
    printToken(process.argv.slice(2));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
