import {
  annotate,
  type Logger,
  type Middleware,
  markFactories,
  type RouteDefinition,
} from '@fw/core';
import { isSamePath } from '@fw/core/extension';

import { createDocsPage } from './docs/docs-page.ts';
import { generateDocument } from './document.ts';
import { requireNamedParameters } from './operation.ts';
import { type OpenApiOptions, readOpenApiOptions, type Settings } from './options.ts';
import { createResource, once, type Resource, sendResource } from './resource.ts';
import { selectRoutes } from './select-routes.ts';
import { warnOfUndescribed, warnOfUnserved } from './warnings.ts';

export type { OpenApiOptions } from './options.ts';

/**
 * Serves the OpenAPI document of a router and a documentation page. The first request builds the
 * document, so routes may be added after this call.
 *
 * ```ts
 * app.use(openapi({ router, info: { title: 'Users', version: '1.0.0' } }));
 * app.route('/api/users', router);
 * ```
 *
 * When the application becomes ready, logs each request schema that has no JSON Schema form, and whether
 * a router with documented paths is not mounted.
 *
 * @throws {TypeError} if an option is unknown or invalid; the application does not become ready if two
 *   routes contradict each other in the document
 */
export function openapi(options: OpenApiOptions): Middleware {
  const settings = readOpenApiOptions(options);
  if (!settings.enabled) return (_ctx, next) => next();

  const { path, docs } = settings;
  const document = once(() => buildDocument(settings));
  const page = docs && {
    path: docs.path,
    read: once(async () => createDocsPage(docs, settings)),
  };
  const serve: Middleware = (ctx, next) => {
    const isRead = ctx.method === 'GET' || ctx.method === 'HEAD';
    if (!isRead || ctx.responded) return next();
    if (isSamePath(ctx.path, path))
      return document().then((resource) => sendResource(ctx, resource));
    if (!page || !isSamePath(ctx.path, page.path)) return next();
    // Below `/docs/` the relative link to the document would be wrong.
    if (ctx.path.length > page.path.length) {
      return ctx.redirect(`../${page.path.slice(page.path.lastIndexOf('/') + 1)}`, 301);
    }
    return page.read().then((resource) => sendResource(ctx, resource));
  };
  let isChecked = false;
  return annotate(serve, {
    onReady(log: Logger) {
      if (isChecked) return;
      const routes = selectRoutes(routesOf(settings), settings.document.exclude);
      isChecked = true;
      warnOfUnserved(settings.routers, routes, log);
      if (settings.document.toJsonSchema) return;
      requireNamedParameters(routes);
      warnOfUndescribed(routes, log);
    },
  });
}

function routesOf({ routers }: Settings): readonly RouteDefinition[] {
  return routers.flatMap((router) => router.getRoutes());
}

async function buildDocument(settings: Settings): Promise<Resource> {
  const document = await generateDocument(routesOf(settings), settings.document);
  return createResource(JSON.stringify(document), {
    'Content-Type': 'application/json; charset=utf-8',
  });
}

markFactories({ openapi });
