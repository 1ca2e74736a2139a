/** What a user has paid for, which decides how much they may ask for. */
export type Tier = 'free' | 'pro';

/** The tier that a token claims: what is not known is the lowest. */
export function readTier(claim: unknown): Tier {
  return claim === 'pro' ? 'pro' : 'free';
}
