import type { OpenApiInfo, Server } from '../document.ts';
import { createResource, type Resource } from '../resource.ts';
import { cdnPage } from './cdn-page.ts';
import { escapeHtml, hashOf, type Page, type PageContent, renderPage } from './html.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './page-assets.ts';

/** The documentation page. */
export interface DocsPage {
  /** Default `/docs`. */
  readonly path?: string;
  /** `fw` is this package's own page, the others come from a CDN. Default `fw`. */
  readonly ui?: 'fw' | 'scalar' | 'swagger';
  /** Base URL of the npm packages of `scalar` and `swagger`. Default `https://cdn.jsdelivr.net/npm`. */
  readonly cdn?: string;
}

export const DEFAULT_CDN = 'https://cdn.jsdelivr.net/npm';

/** Creates the documentation page. */
export function createDocsPage(
  { path, ui, cdn }: Required<DocsPage>,
  api: { path: string; document: { info?: OpenApiInfo; servers?: readonly Server[] } },
): Resource {
  const content = {
    documentUrl: relativeUrl(path, api.path),
    title: api.document.info?.title ?? 'API',
  };
  const { html, policy } = ui === 'fw' ? ownPage(content) : cdnPage(ui, { ...content, cdn });
  const directives = {
    'default-src': ["'none'"],
    ...policy,
    'connect-src': ["'self'", ...originsOf(api.document.servers)],
    'base-uri': ["'none'"],
    'form-action': ["'none'"],
    'frame-ancestors': ["'none'"],
  };
  return createResource(html, {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': Object.entries(directives)
      .map(([name, sources]) => `${name} ${sources.join(' ')}`)
      .join('; '),
    'Referrer-Policy': 'no-referrer',
  });
}

const ICON =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#5b4be1"/><path d="m6 5-3 3 3 3m4-6 3 3-3 3" stroke="#fff" stroke-width="1.6" fill="none"/></svg>',
  );

/** The page of this package: one file that only loads the document. */
function ownPage(content: PageContent): Page {
  const link = `<a href="${escapeHtml(content.documentUrl)}">the document</a>`;
  return {
    html: renderPage(content, {
      icon: ICON,
      head: `<meta name="color-scheme" content="light dark">
<style>${PAGE_STYLE}</style>`,
      body: `<noscript>This page draws ${link} with JavaScript.</noscript>
<script>${PAGE_SCRIPT}</script>`,
    }),
    policy: {
      'script-src': [hashOf(PAGE_SCRIPT)],
      'style-src': [hashOf(PAGE_STYLE)],
      'img-src': ['data:'],
      'require-trusted-types-for': ["'script'"],
    },
  };
}

/** A relative URL from one path to another, valid also behind a proxy that adds a prefix. */
function relativeUrl(from: string, to: string): string {
  const start = from.split('/').slice(1, -1);
  const target = to.split('/').slice(1);
  const shared = target.findIndex(
    (segment, index) => segment !== start[index] || index === target.length - 1,
  );
  return '../'.repeat(start.length - shared) + target.slice(shared).join('/');
}

/** The origins of other servers, to which the page may send requests. */
function originsOf(servers: readonly Server[] = []): string[] {
  const origins = servers.flatMap(({ url }) => URL.parse(url)?.origin ?? []);
  return [...new Set(origins.filter((origin) => origin !== 'null'))];
}
