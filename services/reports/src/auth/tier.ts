/** The plan of a user, which determines the rate limit. */
export type Tier = 'free' | 'pro';

/** The tier that a token claims; an unknown tier is `free`. */
export function readTier(claim: unknown): Tier {
  return claim === 'pro' ? 'pro' : 'free';
}
