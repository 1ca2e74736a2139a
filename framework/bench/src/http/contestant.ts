import type { AddressInfo } from 'node:net';

import type { Workload } from './workloads.ts';

/** The module of a contestant, `contestants/<name>.ts`. */
export interface Contestant {
  /** Serves the application for `workload` on a free port of 127.0.0.1, which it resolves with. */
  start(workload: Workload): Promise<number>;
}

/** Every contestant, with the packages whose versions the report names. */
export const CONTESTANTS: Readonly<Record<string, readonly string[]>> = {
  raw: [],
  fw: ['fw'],
  fastify: ['fastify'],
  hono: ['hono', '@hono/node-server'],
  h3: ['h3'],
  koa: ['koa', '@koa/router', '@koa/bodyparser'],
  express: ['express'],
  polka: ['polka'],
};

interface Listenable {
  listen(port: number, host: string, listening: () => void): unknown;
  address(): AddressInfo | string | null;
}

/** Listens on a free port of 127.0.0.1. */
export function listenOnFreePort(server: Listenable): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (typeof address === 'object' && address) resolve(address.port);
    });
  });
}
