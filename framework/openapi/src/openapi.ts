import { type Context, type Middleware, markFactories } from '@fw/core';
import { foldCase } from '@fw/core/extension';

import { createDocsPage } from './docs-page.ts';
import { generateDocument } from './document.ts';
import { type OpenApiOptions, readOpenApiOptions, type Settings } from './options.ts';
import { createResource, type Resource, sendResource } from './resource.ts';

export type { OpenApiOptions } from './options.ts';

/**
 * Serves the OpenAPI document of a router, and a page to read it. The document is built on the first
 * request for it, so routes may still be added after this.
 *
 * ```ts
 * app.use(openapi({ router, info: { title: 'Users', version: '1.0.0' } }));
 * app.route('/api/users', router);
 * ```
 *
 * @throws {TypeError} if an option is unknown or has no such meaning
 */
export function openapi(options: OpenApiOptions): Middleware {
  const settings = readOpenApiOptions(options);
  if (!settings.enabled) return (_ctx, next) => next();

  const { path, docs } = settings;
  const document = once(() => buildDocument(settings));
  const page = docs && once(async () => createDocsPage(docs, settings));
  return (ctx, next) => {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!isRead || ctx.responded) return next();
    if (isAt(ctx, path)) return document().then((resource) => sendResource(ctx, resource));
    if (!docs || !page || !isAt(ctx, docs.path)) return next();
    // Below `/docs/` the page's relative link to the document would lead elsewhere.
    if (ctx.path.length > docs.path.length) {
      return ctx.redirect(`../${docs.path.slice(docs.path.lastIndexOf('/') + 1)}`, 301);
    }
    return page().then((resource) => sendResource(ctx, resource));
  };
}

/** Whether the request is for `path`, compared as routes are: whatever its case, with a slash or without. */
function isAt({ path: asked }: Context, path: string): boolean {
  const isSlashed = asked.length === path.length + 1 && asked.endsWith('/');
  if (!isSlashed && asked.length !== path.length) return false;
  return foldCase(isSlashed ? asked.slice(0, -1) : asked) === foldCase(path);
}

async function buildDocument({ routers, document }: Settings): Promise<Resource> {
  const routes = routers.flatMap((router) => router.getRoutes());
  return createResource(JSON.stringify(await generateDocument(routes, document)), {
    'Content-Type': 'application/json; charset=utf-8',
  });
}

/** Builds on the first call, once for all who ask meanwhile; a failure is not remembered. */
function once<T>(build: () => Promise<T>): () => Promise<T> {
  let built: Promise<T> | undefined;
  return () => {
    built ??= build().catch((error: unknown) => {
      built = undefined;
      throw error;
    });
    return built;
  };
}

markFactories({ openapi });
