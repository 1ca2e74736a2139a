import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { readKind } from './cluster/kind.ts';
import { createLaunch } from './processes/launch.ts';
import { checkServiceVariables } from './service-variables.ts';
import { folders } from './state.ts';

/**
 * `node dev.ts --service users` starts the system with one service in watch mode, and prints its output until
 * Ctrl-C. Afterwards the service runs as `make up` starts it.
 */
async function develop(): Promise<void> {
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
  checkServiceVariables(process.env);
  const options = { folders, port: Number(values.port), env: process.env, log: console.log };
  await createLaunch({ ...options, development: service }).up();
  console.log(`${service} restarts after each change of its source (Ctrl-C: back to make up)`);
  const log = path.join(folders.logs, `${service}-1.log`);
  const reader = spawn('tail', ['-n', '+1', '-F', log], { stdio: ['ignore', 'inherit', 'ignore'] });
  // The terminal sends Ctrl-C to the reader too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => reader.kill());
  await once(reader, 'close');
  await createLaunch(options).up();
}

try {
  await develop();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
