import { createHash } from 'node:crypto';

import type { OpenApiInfo, Server } from '../document.ts';
import { createResource, type Resource } from '../resource.ts';
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

/** The parts of a page that differ: markup, and sources of its content security policy. */
interface Page {
  readonly icon?: string;
  readonly head: string;
  readonly body: string;
  readonly policy: Readonly<Record<string, readonly string[]>>;
}

/** Creates a page that loads the document at the address in `data-document`. */
export function createDocsPage(
  { path, ui, cdn }: Required<DocsPage>,
  api: { path: string; document: { info?: OpenApiInfo; servers?: readonly Server[] } },
): Resource {
  const url = escapeHtml(relativeUrl(path, api.path));
  const { icon = 'data:,', head, body, policy } = PAGES[ui](url, cdn.replace(/\/$/, ''));
  const html = `<!doctype html>
<html lang="en" data-document="${url}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(api.document.info?.title ?? 'API')}</title>
<link rel="icon" href="${icon}">
${head}
</head>
<body>
${body}
</body>
</html>
`;
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

/*
 * The files of a CDN are those of the npm packages. A new version and its hashes:
 *
 *   npm pack @scalar/api-reference@1.72.1 swagger-ui-dist@5.35.0
 *   tar xzOf scalar-api-reference-1.72.1.tgz package/dist/browser/standalone.js |
 *     openssl dgst -sha384 -binary | base64
 */
const SCALAR = {
  file: '@scalar/api-reference@1.72.1/dist/browser/standalone.js',
  integrity: 'sha384-U11tb2XnKvmwt8RlTvnwUnYgrN+ur4Xyh9htLhjajWNR/Oyl5AX5DEz00qRmlrmK',
};
const SWAGGER = {
  file: 'swagger-ui-dist@5.35.0/swagger-ui-bundle.js',
  integrity: 'sha384-gjRm0bEPMeTmMh5jT2cHccIwCUZSTd8YC+j0d0sXw0MdGEfScduGpSyF3ZSSLkX9',
};
const SWAGGER_STYLE = {
  file: 'swagger-ui-dist@5.35.0/swagger-ui.css',
  integrity: 'sha384-WlYgdmXYOOBWL5apwjDEZwN+U3HmXSSu5R6V5aGxEcf7z+KuRNwBhoxKVN1i3D5I',
};

/** The pages, each for the URL of the document and that of the CDN. */
const PAGES: Record<Required<DocsPage>['ui'], (url: string, cdn: string) => Page> = {
  fw: (url) => ({
    icon: ICON,
    head: `<meta name="color-scheme" content="light dark">
<style>${PAGE_STYLE}</style>`,
    body: `<noscript>This page draws <a href="${url}">the document</a> with JavaScript.</noscript>
<script>${PAGE_SCRIPT}</script>`,
    policy: {
      'script-src': [hashOf(PAGE_SCRIPT)],
      'style-src': [hashOf(PAGE_STYLE)],
      'img-src': ['data:'],
      'require-trusted-types-for': ["'script'"],
    },
  }),
  scalar(url, cdn) {
    const configuration = JSON.stringify({ withDefaultFonts: false, telemetry: false });
    return {
      head: '',
      body: `<script id="api-reference" data-url="${url}" data-configuration="${escapeHtml(configuration)}"></script>
<script ${subresource('src', cdn, SCALAR)}></script>`,
      policy: {
        'script-src': [originOf(cdn)],
        'style-src': ["'unsafe-inline'"], // its styles are part of its script
        'img-src': ["'self'", 'data:', 'blob:'],
        'font-src': ['data:'],
        'worker-src': ['blob:'],
      },
    };
  },
  swagger(_url, cdn) {
    const start = `SwaggerUIBundle({ url: document.documentElement.dataset.document, dom_id: '#page' });`;
    return {
      head: `<link rel="stylesheet" ${subresource('href', cdn, SWAGGER_STYLE)}>`,
      body: `<div id="page"></div>
<script ${subresource('src', cdn, SWAGGER)}></script>
<script>${start}</script>`,
      policy: {
        'script-src': [originOf(cdn), hashOf(start)],
        'style-src': [originOf(cdn), "'unsafe-inline'"], // it sets styles on elements
        'img-src': ["'self'", 'data:'],
      },
    };
  },
};

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

function subresource(
  attribute: 'src' | 'href',
  cdn: string,
  { file, integrity }: { file: string; integrity: string },
): string {
  return `${attribute}="${escapeHtml(`${cdn}/${file}`)}" integrity="${integrity}" crossorigin="anonymous"`;
}

/** The origin that the content security policy allows; a path would not match after a redirect. */
function originOf(cdn: string): string {
  return new URL(cdn).origin;
}

/** The hash source of an inline script or style (CSP Level 3 §2.3.1). */
function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
