import { fileURLToPath } from 'node:url';
import type { Route } from './contestant.ts';
import { startMeasured } from './process.ts';
import type { Values } from './server.ts';
import type { WorkOptions } from './work.ts';

const SERVER = fileURLToPath(new URL('server.ts', import.meta.url));

/** The process of a contestant. */
export interface ContestantProcess {
  readonly port: number;
  /** Does what `name` means in server.ts. */
  request<Name extends keyof Values>(name: Name): Promise<Values[Name]>;
  stop(): Promise<void>;
}

export interface ContestantOptions extends Partial<WorkOptions> {
  /** Whether memory is measured: the process can collect garbage, and keeps idle connections. */
  readonly isMemoryMeasured?: boolean;
}

/** Starts a contestant with `routes` on the measured core and waits until it listens. */
export async function startContestant(
  name: string,
  routes: readonly Route[],
  { isMemoryMeasured = false, ...work }: ContestantOptions = {},
): Promise<ContestantProcess> {
  const flags = isMemoryMeasured ? ['--expose-gc'] : [];
  const args = [...flags, SERVER, name, routes.join(','), JSON.stringify(work)];
  const { ready: port, request, stop } = await startMeasured<number, never>(...args);
  return { port, request, stop };
}
