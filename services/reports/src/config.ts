import { type ConfigOf, secret, serviceVariables } from '@fw/service';

/** What the service reads from its environment, with the defaults. */
export const VARIABLES = {
  ...serviceVariables({ port: 8083 }),
  TOKENS: secret({ meaning: 'token=userId entries between commas or line breaks' }),
};

export type ReportsConfig = ConfigOf<typeof VARIABLES>;

/** Without tokens nobody could come in. */
export function missingTokens({ TOKENS }: ReportsConfig): string[] {
  return TOKENS === undefined
    ? ['TOKENS is missing: expected token=userId entries, or TOKENS_FILE with them']
    : [];
}
