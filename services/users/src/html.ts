import type { User } from './user.ts';

/** A user as an HTML fragment. */
export function userFragment({ name, email, createdAt, updatedAt }: User): string {
  return `<article>
  <h1>${escapeHtml(name)}</h1>
  <p>${escapeHtml(email)}</p>
  <p>Created <time>${createdAt.toISOString()}</time>, updated <time>${updatedAt.toISOString()}</time></p>
</article>
`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** `text` as it may stand in HTML, in an element or in a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}
