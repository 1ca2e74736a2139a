import { createHash } from 'node:crypto';

/** A page: its markup and its content security policy. */
export interface Page {
  readonly html: string;
  readonly policy: Readonly<Record<string, readonly string[]>>;
}

/** What the page shows before the document is loaded. */
export interface PageContent {
  /** URL of the document, relative to the page. */
  readonly documentUrl: string;
  readonly title: string;
}

/** The hash source of an inline script or style (CSP Level 3 §2.3.1). */
export function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
