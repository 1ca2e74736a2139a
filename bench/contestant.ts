import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parse } from 'node:path';

import { bareOf, WORKLOADS, type Workload } from './http/workloads.ts';
import { CASES, type Case, type Work } from './work.ts';

/** A workload of the section `http`, or a situation in which clients leave. */
export type Route = Workload | Case;

const ROUTES: readonly Route[] = [...WORKLOADS, ...CASES];

/** A framework, as `contestants/<name>.ts` exports it. */
export interface Contestant {
  /** Its packages; the reports print their versions. */
  readonly packages: readonly string[];
  /** The routes that it implements. */
  readonly routes: readonly Route[];
  /** The contestant whose bare workload its add-ons are compared with. Default: its own. */
  readonly over?: string;
  /** Creates a server with `routes`. It may already listen on 127.0.0.1. */
  start(routes: readonly Route[], work: Work): Promise<Server> | Server;
}

/** The names of all contestants. */
const NAMES = readdirSync(new URL('contestants', import.meta.url)).map((file) => parse(file).name);

export async function loadContestant(name: string): Promise<Contestant> {
  const { contestant }: { contestant: Contestant } = await import(`./contestants/${name}.ts`);
  return contestant;
}

/** All contestants by name. */
export async function loadContestants(): Promise<ReadonlyMap<string, Contestant>> {
  return new Map(
    await Promise.all(NAMES.map(async (name) => [name, await loadContestant(name)] as const)),
  );
}

/** The names of the contestants that implement all of `routes`. */
export function namesWith(
  contestants: ReadonlyMap<string, Contestant>,
  ...routes: readonly Route[]
): readonly string[] {
  return [...contestants]
    .filter(([, contestant]) => routes.every((route) => contestant.routes.includes(route)))
    .map(([name]) => name);
}

interface Framework<App> extends Pick<Contestant, 'packages'> {
  readonly routes: Partial<Readonly<Record<Route, (app: App, work: Work) => unknown>>>;
  /** Add a plugin or middleware; then the route of the bare workload is registered. */
  readonly addOns?: Partial<Readonly<Record<Workload, (app: App) => unknown>>>;
  /** Creates an application, passes it to `register`, and returns its server. */
  serve(register: (app: App) => Promise<void>, routes: readonly Route[]): Promise<Server> | Server;
}

/** A contestant whose applications differ in their routes and add-ons only. */
export function defineContestant<App>(framework: Framework<App>): Contestant {
  const { packages, routes, addOns = {}, serve } = framework;
  return {
    packages,
    routes: ROUTES.filter((route) => route in routes || route in addOns),
    start: (chosen, work) =>
      serve(async (app) => {
        for (const route of chosen) {
          await addOns[route as Workload]?.(app);
          const register = routes[route] ?? routes[bareOf(route as Workload)];
          await register?.(app, work);
        }
      }, chosen),
  };
}

/** Listens on a free port of 127.0.0.1, unless the server listens already, and returns the port. */
export async function listenOnFreePort(server: Server): Promise<number> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  return (server.address() as AddressInfo).port;
}
