import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';

import { SERVICE_NAMES, type ServiceName } from '../../services/services.ts';
import { buildService, bundleOf } from './build.ts';
import { readCluster } from './cluster/record.ts';
import { keptStores, readStores } from './processes/stores.ts';
import { environmentOf } from './processes/system.ts';
import { folders } from './state.ts';

/**
 * `node service-command.ts catalog import FILE` runs a command of a service with the settings that
 * it has on this machine; `all config` runs one of each.
 */
const [name = '', ...args] = process.argv.slice(2);
const services = SERVICE_NAMES.filter((service) => name === service || name === 'all');
if (services.length === 0) {
  console.error(`Cannot run a command of "${name}": expected ${SERVICE_NAMES.join(', ')} or all`);
  process.exit(2);
}
if (args[0] === 'import' && readCluster(folders.run)) {
  console.error('Cannot import: the catalog runs on a cluster, and this reaches processes only');
  process.exit(1);
}
await Promise.all(services.map(buildService));
for (const [index, service] of services.entries()) {
  if (services.length > 1) console.log(`${index === 0 ? '' : '\n'}${service}`);
  process.exitCode ||= await runCommand(service, args);
}

/** Runs the bundle of `service`; what it reads, prints and is told by signals goes straight through. */
async function runCommand(service: ServiceName, args: readonly string[]): Promise<number> {
  fs.mkdirSync(folders.data, { recursive: true });
  const stores = fs.existsSync(folders.run) ? keptStores(folders.run) : readStores(process.env);
  const child = spawn(process.execPath, [bundleOf(service), ...args], {
    // The edge is of no use to a command.
    env: environmentOf(service, { folders, stores, edgePort: 8080 }),
    stdio: 'inherit',
  });
  // Both get Ctrl-C; how the command ends is up to the command.
  process.on('SIGINT', () => {});
  const [code] = await once(child, 'close');
  return code ?? 1;
}
