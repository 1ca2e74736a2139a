import { createHash } from 'node:crypto';

/** What a page is made of: its markup, and the policy under which it runs. */
export interface Page {
  readonly html: string;
  readonly policy: Readonly<Record<string, readonly string[]>>;
}

/** What the page says of the API before the document is there. */
export interface PageContent {
  /** Where the document is, as seen from the page. */
  readonly documentUrl: string;
  readonly title: string;
}

/** What a policy names an inline script or style by (CSP Level 3 §2.3.1). */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
