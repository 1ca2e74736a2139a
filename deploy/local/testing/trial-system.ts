import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { buildServices, createLaunch, type Launch } from '../processes/launch.ts';
import { stopSystem } from '../processes/stop.ts';
import type { Stores } from '../processes/stores.ts';
import { replicasOf } from '../processes/system.ts';
import { type Folders, foldersOf } from '../state.ts';
import { freePortsFrom } from './ports.ts';

/** The whole system in a folder and on ports of its own. */
export interface TrialSystem {
  readonly folders: Folders;
  readonly port: number;
  /** The address of the edge. */
  readonly origin: string;
  /** What was said at each start, line by line. */
  readonly said: readonly string[];
  /** Starts what does not run. */
  readonly up: Launch['up'];
  /** Stops it, and removes all that it wrote. */
  stop(): Promise<void>;
}

/** The sources do not change while they are tested: what was built once is built. */
let built: Promise<unknown> | undefined;
const build = () => {
  built ??= buildServices();
  return built;
};

/** Starts what `make up` starts. */
export async function startTrialSystem(stores: Stores = {}): Promise<TrialSystem> {
  const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-system-'));
  const folders = foldersOf(root);
  const offsets = replicasOf(0).flatMap(({ port, healthPort }) => [port, healthPort]);
  const port = await freePortsFrom([0, ...offsets]);
  const said: string[] = [];
  const say = (line: string) => said.push(line);
  const up = () => createLaunch({ folders, port, stores, build, say }).up();
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
  return { folders, port, origin: `http://127.0.0.1:${port}`, said, up, stop };
}
