import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { ServiceName } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { develop as developService } from '../dev.ts';
import { observerPorts } from '../observe/observers.ts';
import {
  buildServices,
  createLaunch,
  type LaunchOptions,
  stopSystem,
} from '../processes/launch.ts';
import { replicasOf } from '../processes/system.ts';
import { type Folders, foldersOf } from '../state.ts';
import { freePortsFrom } from './ports.ts';

/** The whole system with its own folder and ports. */
export interface TrialSystem {
  readonly folders: Folders;
  readonly port: number;
  /** The address of the edge. */
  readonly origin: string;
  /** The lines of progress of all starts. */
  readonly progress: readonly string[];
  /** Starts the system again. Default: with the same variables. */
  readonly up: (env?: NodeJS.ProcessEnv) => Promise<void>;
  /** Runs a service in watch mode, as `make dev` does in a shell without variables. */
  readonly develop: (service: ServiceName, interrupted: Promise<void>) => Promise<void>;
  /** Stops the system and removes its files. */
  stop(): Promise<void>;
}

/** The sources do not change during the tests: one build is enough. */
let built: Promise<unknown> | undefined;
const build = () => {
  built ??= buildServices();
  return built;
};

/** Starts the same processes as `make up` with the variables `env`, or as `make observe`. */
export async function startTrialSystem(
  env: NodeJS.ProcessEnv = {},
  { observe = false }: Pick<LaunchOptions, 'observe'> = {},
): Promise<TrialSystem> {
  for (const name of ['nginx', ...(observe ? ['prometheus', 'java'] : [])]) ensureTool(name);
  // Checkouts may have such paths.
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fw ü system-'));
  const folders = foldersOf(root);
  const offsets = replicasOf(0).flatMap(({ port, healthPort }) => [port, healthPort]);
  const observers = Object.values(observerPorts(0));
  const port = await freePortsFrom([0, ...offsets, ...(observe ? observers : [])]);
  const progress: string[] = [];
  const log = (line: string) => progress.push(line);
  const options = { folders, port, build, log };
  const up = (variables = env) => createLaunch({ ...options, env: variables, observe }).up();
  const develop: TrialSystem['develop'] = (service, interrupted) =>
    developService({ ...options, env: {}, service, interrupted });
  const stop = async () => {
    await stopSystem(folders);
    fs.rmSync(root, { recursive: true });
  };
  try {
    await up();
  } catch (error) {
    await stop();
    throw error;
  }
  return { folders, port, origin: `http://127.0.0.1:${port}`, progress, up, develop, stop };
}
