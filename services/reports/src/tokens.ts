import { createHash, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';

import type { Verify } from './require-auth.ts';

/** Who may come in: a user's id for each token. */
export type Tokens = ReadonlyMap<string, string>;

/** Shorter ones can be guessed. */
const SHORTEST_TOKEN = 16;

/**
 * Reads `token=userId` entries between commas or line breaks. A message names an entry by its number:
 * a token has no place in a log.
 *
 * @throws {Error} if an entry is malformed or a token stands twice, or if there is none
 */
export function readTokens(text: string): Tokens {
  const entries = text
    .split(/[,\n]/)
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  if (entries.length === 0) throw new Error('holds no entry: expected token=userId');
  const tokens = new Map<string, string>();
  for (const [at, entry] of entries.entries()) {
    // Base64 may end in "=", and a user's id holds none.
    const split = entry.lastIndexOf('=');
    const token = entry.slice(0, Math.max(0, split));
    const userId = entry.slice(split + 1);
    if (!/^[\w.~+/-]+=*$/.test(token) || token.length < SHORTEST_TOKEN || !/^\S+$/.test(userId)) {
      throw new Error(
        `entry ${at + 1} must be token=userId with a token of at least ${SHORTEST_TOKEN} characters`,
      );
    }
    if (tokens.has(token)) throw new Error(`entry ${at + 1} has the token of another one`);
    tokens.set(token, userId);
  }
  return tokens;
}

/**
 * Reads the tokens of a file.
 *
 * @throws {Error} naming the file, if it cannot be read or an entry is malformed
 */
export function readTokensFile(file: string): Tokens {
  try {
    return readTokens(readFileSync(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read tokens from "${file}": ${reason}`, { cause: error });
  }
}

/** Tells who has a token. It takes the same time for every token, whether it is known or nearly so. */
export function tokenVerifier(tokens: Tokens): Verify {
  const known = [...tokens].map(([token, id]) => ({ digest: digestOf(token), id }));
  return async (token) => {
    const digest = digestOf(token);
    const [match] = known.filter((entry) => timingSafeEqual(entry.digest, digest));
    return match && { id: match.id };
  };
}

/** Digests have one length, which `timingSafeEqual` asks for. */
function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
