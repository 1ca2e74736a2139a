import { type Api, createApi } from './api.ts';
import { issueToken, readOrCreateSecret } from './token.ts';

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

/** The system at `base` for the holder of `tokens`, each of which is given out once, but for the last. */
export function targetAt(base: string, tokens: readonly string[]): Target {
  const left = [...tokens];
  const newToken = () => (left.length > 1 ? left.shift() : left[0]) ?? '';
  return { api: createApi(base.replace(/\/$/, '')), newToken };
}
