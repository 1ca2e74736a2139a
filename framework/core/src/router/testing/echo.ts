import { type Application, createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import type { AnyRouter } from '../types.ts';

/** Responds with the matched route and its parameters. */
export const echo: Middleware = (ctx) => ctx.json({ route: ctx.route?.path, params: ctx.params });

/** An application, without a log, that serves `router`. */
export function serve(router: AnyRouter): Application {
  return createApp({ logger: quiet }).use(router.routes());
}

/** Status and body of GET `path`, which `echo` handles if a route matches. */
export async function get(
  app: Application,
  path: string,
): Promise<{ status: number; body: unknown }> {
  const response = await request(app, path);
  const text = await response.text();
  return { status: response.status, body: response.status === 200 ? JSON.parse(text) : undefined };
}

/** The paths of the routes of `router`. */
export const pathsOf = (router: AnyRouter) => router.getRoutes().map(({ path }) => path);
