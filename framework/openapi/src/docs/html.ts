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

/** A page that loads the document at the address in `data-document`. `head` and `body` are HTML. */
export function renderPage(
  { documentUrl, title }: PageContent,
  { icon = 'data:,', head, body }: { icon?: string; head: string; body: string },
): string {
  return `<!doctype html>
<html lang="en" data-document="${escapeHtml(documentUrl)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="${icon}">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}
