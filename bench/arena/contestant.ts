import { createServer as createPlain, type RequestListener } from 'node:http';
import { createServer as createSecure } from 'node:https';

import { listenOnFreePort } from '../http/contestant.ts';
import type { Store } from './items.ts';

export interface Setting {
  readonly store: Store;
  /** The folder that contains the folder `static`. */
  readonly folder: string;
  /** The certificate of the profile with TLS. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
}

/** A framework, as `contestants/<name>.ts` exports it. */
export interface Contestant {
  /** Its packages; the report prints their versions. */
  readonly packages: readonly string[];
  /** Serves the application with all endpoints on a free port of 127.0.0.1 and returns the port. */
  start(setting: Setting): Promise<number>;
}

/** The names of all contestants. */
export const CONTESTANTS = ['node', 'fw', 'fastify', 'hono', 'koa', 'express'];

export async function loadContestant(name: string): Promise<Contestant> {
  const { contestant }: { contestant: Contestant } = await import(`./contestants/${name}.ts`);
  return contestant;
}

/** Serves a listener of `node:http`. */
export function serveListener(listener: RequestListener, { tls }: Setting): Promise<number> {
  return listenOnFreePort(tls ? createSecure(tls, listener) : createPlain(listener));
}
