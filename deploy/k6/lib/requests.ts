import { newName, type RequestOptions } from './client.ts';
import { authorization, hasTokens } from './token.ts';

/** Creates a user with a new name and a new e-mail address. */
export function creation(): RequestOptions {
  const body = { name: `Load ${newName()}`, email: `load-${newName()}@example.org` };
  return { body, expect: [201] };
}

/** Requests reports as a new user. With a single token, all requests share one, who reaches the rate limit. */
export function report(): RequestOptions {
  const headers = authorization(`load-${newName()}`, 'pro');
  return { headers, expect: hasTokens ? [200] : [200, 429] };
}
