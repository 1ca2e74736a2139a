import { issueToken, readOrCreateSecret } from '../../deploy/local/token.ts';
import { type Api, createApi } from './api.ts';

/** A system to hold against what it promises. */
export interface Target {
  readonly api: Api;
  /** Gives a bearer token of reports, of a user who has asked for nothing yet where it can. */
  readonly newToken: (tier?: 'free' | 'pro') => string;
}

/** The local system at `origin`: a user of its own for each token, signed by the secret below `run`. */
export function localTarget(origin: string, run: string): Target {
  const secret = readOrCreateSecret(run);
  return {
    api: createApi(origin),
    newToken: (tier = 'free') =>
      issueToken({ secret, user: `trial-${crypto.randomUUID()}`, tier, hours: 1 }),
  };
}

/**
 * The system at `base` for the holders of `tokens`, who take turns: two users will do, where one
 * uses up what the service allows.
 */
export function targetAt(base: string, tokens: readonly string[]): Target {
  let turn = 0;
  const newToken = () => tokens[turn++ % tokens.length] ?? '';
  return { api: createApi(base.replace(/\/$/, '')), newToken };
}
