import { json } from '@fw/body-parser';
import { type Application, createApp, createRouter, type Router } from '@fw/core';
import { quiet, request } from '@fw/core/testing';

import { type ControllersOptions, controllersPlugin, type Type } from '../index.ts';

export const logger = quiet;

interface Served {
  readonly app: Application;
  readonly router: Router;
}

/** An application with controllers, whose router is mounted at `mount`. */
export function serve(options: Omit<ControllersOptions, 'router'>, mount = '/'): Served {
  const router = createRouter();
  const app = createApp({ logger }).use(json());
  app.plugin(controllersPlugin({ router, ...options }));
  app.route(mount, router);
  return { app, router };
}

/** Sends a request; `body` is sent as JSON. */
export function send(
  app: Application,
  method: string,
  path: string,
  body?: unknown,
): Promise<Response> {
  return request(app, path, body === undefined ? { method } : { method, json: body });
}

/** The body of `GET /` in an application with these controllers. */
export async function bodyOf(...types: Type[]): Promise<unknown> {
  const { app } = serve({ controllers: types });
  return (await request(app, '/')).json();
}
