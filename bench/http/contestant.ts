import { readdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { parse } from 'node:path';

import { bareOf, WORKLOADS, type Workload } from './workloads.ts';

/** A framework, as `contestants/<name>.ts` exports it. */
export interface Contestant {
  /** Its packages; the report prints their versions. */
  readonly packages: readonly string[];
  /** The workloads that it implements. */
  readonly workloads: readonly Workload[];
  /** The contestant whose bare workload its add-ons are compared with. Default: its own. */
  readonly over?: string;
  /** Serves the application for `workload` on a free port of 127.0.0.1 and returns the port. */
  start(workload: Workload): Promise<number>;
}

/** The names of all contestants. */
export const CONTESTANTS = readdirSync(new URL('contestants', import.meta.url)).map(
  (file) => parse(file).name,
);

export async function loadContestant(name: string): Promise<Contestant> {
  const { contestant }: { contestant: Contestant } = await import(`./contestants/${name}.ts`);
  return contestant;
}

interface Framework<App> {
  readonly packages: readonly string[];
  /** Register the routes of a workload. */
  readonly routes: Partial<Readonly<Record<Workload, (app: App) => unknown>>>;
  /** Add a plugin or middleware; then the routes of the bare workload are registered. */
  readonly addOns?: Partial<Readonly<Record<Workload, (app: App) => unknown>>>;
  /** Creates an application, passes it to `register`, and listens on a free port of 127.0.0.1. */
  serve(register: (app: App) => Promise<void>, workload: Workload): Promise<number>;
}

/** A contestant whose applications differ in their add-on and routes only. */
export function defineContestant<App>(framework: Framework<App>): Contestant {
  const { packages, routes, addOns = {}, serve } = framework;
  return {
    packages,
    workloads: WORKLOADS.filter((workload) => workload in routes || workload in addOns),
    start: (workload) =>
      serve(async (app) => {
        await addOns[workload]?.(app);
        const register = routes[workload] ?? routes[bareOf(workload)];
        await register?.(app);
      }, workload),
  };
}

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
