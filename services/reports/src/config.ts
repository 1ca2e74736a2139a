import { optionalText, readConfig, serviceVariables } from '@fw/service';

import { readTokens, readTokensFile, type Tokens } from './tokens.ts';

/** What the service reads from its environment, with the defaults. */
const VARIABLES = {
  ...serviceVariables({ port: 8083 }),
  TOKENS: optionalText(),
  TOKENS_FILE: optionalText(),
};

export type ReportsConfig = ReturnType<typeof readReportsConfig>;

/** @throws {Error} whose message names what is missing or bad, and never holds a token */
export function readReportsConfig(env: NodeJS.ProcessEnv) {
  const { TOKENS, TOKENS_FILE, ...config } = readConfig(VARIABLES, env);
  return Object.freeze({ ...config, tokens: readEither(TOKENS, TOKENS_FILE) });
}

function readEither(text: string | undefined, file: string | undefined): Tokens {
  if (text !== undefined && file !== undefined) {
    throw new Error('TOKENS and TOKENS_FILE are both set: expected one of them');
  }
  if (file !== undefined) return readTokensFile(file);
  if (text === undefined) {
    throw new Error('TOKENS is missing: expected token=userId entries, or TOKENS_FILE with them');
  }
  try {
    return readTokens(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`Cannot read TOKENS: ${reason}`, { cause: error });
  }
}
