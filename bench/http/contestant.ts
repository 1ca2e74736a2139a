import type { AddressInfo } from 'node:net';

import {
  BASELINES,
  COMMON_WORKLOADS,
  CONTRACT_WORKLOADS,
  MIDDLEWARE_WORKLOADS,
  WORKLOADS,
  type Workload,
} from './workloads.ts';

/** The module of a contestant, `contestants/<name>.ts`. */
export interface Contestant {
  /** Serves the application for `workload` on a free port of 127.0.0.1 and returns the port. */
  start(workload: Workload): Promise<number>;
}

/** The workloads and packages of a contestant. */
export interface Entry {
  readonly workloads: readonly Workload[];
  /** Packages; the report prints their versions. */
  readonly packages: readonly string[];
  /** Additional packages that its add-ons need. */
  readonly addOnPackages?: readonly string[];
  /** The contestant whose bare workload its add-ons are compared with. Default: its own. */
  readonly over?: string;
}

const ENTRIES = {
  raw: {
    workloads: [...COMMON_WORKLOADS, ...BASELINES, 'validated'],
    packages: [],
    addOnPackages: ['zod'],
  },
  fw: {
    workloads: WORKLOADS,
    packages: [],
    addOnPackages: ['zod', 'pino', 'prom-client', 'cors'],
  },
  fastify: {
    workloads: [
      ...COMMON_WORKLOADS,
      ...BASELINES,
      'validated',
      'limited',
      'observed',
      ...CONTRACT_WORKLOADS,
      ...MIDDLEWARE_WORKLOADS,
    ],
    packages: ['fastify'],
    addOnPackages: [
      '@fastify/rate-limit',
      'pino',
      'prom-client',
      '@fastify/compress',
      '@fastify/cookie',
      '@fastify/cors',
      '@fastify/etag',
      '@fastify/formbody',
      '@fastify/helmet',
      '@fastify/middie',
      '@fastify/request-context',
      '@fastify/static',
    ],
  },
  nest: {
    workloads: ['controller'],
    packages: ['@nestjs/core', '@nestjs/platform-fastify'],
    over: 'fastify',
  },
  hono: {
    workloads: [
      ...COMMON_WORKLOADS,
      'validated',
      'limited',
      'compress',
      'cookies',
      'cors',
      'etag',
      'forms',
      'request-context',
      'security-headers',
      'static-files',
    ],
    packages: ['hono', '@hono/node-server'],
    addOnPackages: ['@hono/zod-validator', 'zod', 'hono-rate-limiter'],
  },
  h3: {
    workloads: [...COMMON_WORKLOADS, 'validated'],
    packages: ['h3'],
    addOnPackages: ['zod'],
  },
  koa: {
    workloads: [...COMMON_WORKLOADS, 'validated'],
    packages: ['koa', '@koa/router', '@koa/bodyparser'],
    addOnPackages: ['zod'],
  },
  express: {
    workloads: [
      ...COMMON_WORKLOADS,
      'validated',
      'limited',
      'compress',
      'connect',
      'cookies',
      'cors',
      'etag',
      'forms',
      'security-headers',
      'static-files',
    ],
    packages: ['express'],
    addOnPackages: ['zod', 'express-rate-limit', 'compression', 'cookie-parser', 'cors', 'helmet'],
  },
  polka: {
    workloads: [...COMMON_WORKLOADS, 'validated'],
    packages: ['polka'],
    addOnPackages: ['zod'],
  },
} as const satisfies Readonly<Record<string, Entry>>;

/** The workloads that the module of a contestant must implement. */
export type WorkloadOf<Name extends keyof typeof ENTRIES> =
  (typeof ENTRIES)[Name]['workloads'][number];

export const CONTESTANTS: Readonly<Record<string, Entry>> = ENTRIES;

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
