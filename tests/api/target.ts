import { readKind } from '../../deploy/local/cluster/kind.ts';
import { keptVariables } from '../../deploy/local/service-variables.ts';
import { folders, readRunning } from '../../deploy/local/state.ts';
import { issueToken, readOrCreateSecret } from '../../deploy/local/token.ts';
import { type Api, createApi } from './requests.ts';

/** The system to test. */
export interface Target {
  readonly api: Api;
  /** Returns a bearer token: of a new user, or the next one of `TOKEN`. */
  readonly newToken: (tier?: 'free' | 'pro') => string;
  /** Whether `newToken` can create users of both tiers. */
  readonly createsUsers: boolean;
  /** Whether it is the system that `make up` started in this checkout. */
  readonly isLocal: boolean;
}

/**
 * Reads the system to test from the environment. `BASE` is its address; default: the local system.
 * `TOKEN` contains bearer tokens of two users. Without it, tokens are signed with `JWT_SECRET`;
 * default: the secret of the local system. With `AUTH=required`, users and catalog need a token too;
 * default: as the local system.
 *
 * @throws {Error} if the address or the tokens are unknown
 */
export function readTarget(env: NodeJS.ProcessEnv = process.env): Target {
  const local = localAddress();
  const base = env.BASE?.replace(/\/$/, '') || local;
  if (!base) throw new Error('No local system is running: start it with "make up" or set BASE');
  const isLocal = base === local;
  const auth = env.AUTH || (isLocal && keptVariables(folders.run)?.AUTH);
  const targetWith = (token: string) => ({
    api: createApi(base, auth === 'required' ? token : undefined),
    isLocal,
  });

  const tokens = env.TOKEN?.split(' ').filter(Boolean) ?? [];
  if (tokens.length === 1) throw new Error('TOKEN has one token: expected those of two users');
  if (tokens.length > 1) {
    let next = 0;
    const newToken = () => tokens[next++ % tokens.length] ?? '';
    return { ...targetWith(newToken()), newToken, createsUsers: false };
  }
  const secret = env.JWT_SECRET || (local && readOrCreateSecret(folders.run));
  if (!secret) throw new Error(`Cannot create tokens for ${base}: set TOKEN or JWT_SECRET`);
  const newToken: Target['newToken'] = (tier) => newUserToken(secret, tier);
  return { ...targetWith(newToken()), newToken, createsUsers: true };
}

/** Issues a token of a new user. */
export function newUserToken(secret: string, tier: 'free' | 'pro' = 'free'): string {
  return issueToken({ secret, user: `test-${crypto.randomUUID()}`, tier, hours: 1 });
}

/** The address of the edge that `make up` started; undefined if it does not run. */
function localAddress(): string | undefined {
  const edge = readRunning(folders.run).find(({ name }) => name === 'edge');
  return readKind(folders.run)?.address ?? edge?.address;
}
