import { spawn } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

import { SERVICE_NAMES, type ServiceName } from '../../services/services.ts';
import { readKind } from './cluster/kind.ts';
import { ignoreClosedOutput } from './output.ts';
import { createLaunch, type LaunchOptions } from './processes/launch.ts';
import { checkServiceVariables, keptVariables } from './service-variables.ts';
import { folders } from './state.ts';

export interface DevelopOptions extends Omit<LaunchOptions, 'observe' | 'development'> {
  readonly service: ServiceName;
  /** Ends the development. */
  readonly interrupted: Promise<void>;
}

/**
 * Starts the system with one service in watch mode, and prints its output until `interrupted` resolves. Then starts
 * it with the variables that it had before, and without watch mode.
 */
export async function develop(options: DevelopOptions): Promise<void> {
  const { service, interrupted, ...launch } = options;
  const kept = keptVariables(launch.folders.run);
  const env = { ...kept, ...launch.env };
  checkServiceVariables(env);
  await createLaunch({ ...launch, env, development: service }).up();
  launch.log(`${service} restarts after each change of its source (Ctrl-C: back to make up)`);
  const log = path.join(launch.folders.logs, `${service}-1.log`);
  const reader = spawn('tail', ['-n', '+1', '-F', log], { stdio: ['ignore', 'pipe', 'ignore'] });
  createInterface(reader.stdout).on('line', launch.log);
  await interrupted;
  reader.kill();
  await createLaunch({ ...launch, env: kept ?? launch.env }).up();
}

/**
 * Resolves after Ctrl-C or a signal. In a terminal, Ctrl-C is read as a key: as a signal, it would also end make,
 * with an error.
 */
function untilInterrupted(): Promise<void> {
  const { stdin } = process;
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
      process.on(signal, () => resolve());
    if (!stdin.isTTY) return;
    stdin.setRawMode(true).on('data', (keys) => {
      if (keys.includes('\x03')) resolve();
    });
  });
}

/** `node dev.ts --service users --port 8080` */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      service: { type: 'string', default: '' },
      port: { type: 'string', default: '8080' },
    },
  });
  const service = SERVICE_NAMES.find((name) => name === values.service);
  if (!service) {
    throw new Error(`SERVICE must be ${SERVICE_NAMES.join(' or ')}, got "${values.service}"`);
  }
  if (readKind(folders.run)) throw new Error('The system runs on a kind cluster: make down first');
  const options = { folders, port: Number(values.port), env: process.env, log: console.log };
  await develop({ ...options, service, interrupted: untilInterrupted() });
}

if (import.meta.main) {
  ignoreClosedOutput();
  try {
    await main();
    process.exit();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  }
}
