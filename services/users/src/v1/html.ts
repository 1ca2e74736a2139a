import { markup } from '@fw/service';

import type { User } from '../user.ts';

/** A user as an HTML fragment. */
export function userFragment({ name, email, createdAt, updatedAt }: User): string {
  return markup`<article>
  <h1>${name}</h1>
  <p>${email}</p>
  <p>Created <time>${createdAt.toISOString()}</time>, updated <time>${updatedAt.toISOString()}</time></p>
</article>
`.toString();
}
