import { escapeHtml, hashOf, type Page, type PageContent, renderPage } from './html.ts';

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

/** A third-party page, loaded from a CDN in a pinned version with an integrity hash. */
export function cdnPage(
  ui: 'scalar' | 'swagger',
  { cdn, ...content }: PageContent & { readonly cdn: string },
): Page {
  const base = cdn.replace(/\/$/, '');
  return ui === 'scalar' ? scalarPage(base, content) : swaggerPage(base, content);
}

function scalarPage(cdn: string, content: PageContent): Page {
  const configuration = JSON.stringify({ withDefaultFonts: false, telemetry: false });
  const body = `<script id="api-reference" data-url="${escapeHtml(content.documentUrl)}" data-configuration="${escapeHtml(configuration)}"></script>
<script ${subresource('src', cdn, SCALAR)}></script>`;
  return {
    html: renderPage(content, { head: '', body }),
    policy: {
      'script-src': [originOf(cdn)],
      'style-src': ["'unsafe-inline'"], // its styles are part of its script
      'img-src': ["'self'", 'data:', 'blob:'],
      'font-src': ['data:'],
      'worker-src': ['blob:'],
    },
  };
}

function swaggerPage(cdn: string, content: PageContent): Page {
  const start = `SwaggerUIBundle({ url: document.documentElement.dataset.document, dom_id: '#page' });`;
  return {
    html: renderPage(content, {
      head: `<link rel="stylesheet" ${subresource('href', cdn, SWAGGER_STYLE)}>`,
      body: `<div id="page"></div>
<script ${subresource('src', cdn, SWAGGER)}></script>
<script>${start}</script>`,
    }),
    policy: {
      'script-src': [originOf(cdn), hashOf(start)],
      'style-src': [originOf(cdn), "'unsafe-inline'"], // it sets styles on elements
      'img-src': ["'self'", 'data:'],
    },
  };
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
