import { spawn } from 'node:child_process';
import { once } from 'node:events';

import { SERVICE_NAMES } from '../../services/services.ts';
import { buildService, bundleOf } from './build.ts';
import { readKind } from './cluster/kind.ts';
import { createPrivateFolder } from './processes/process.ts';
import { environmentOf } from './processes/system.ts';
import { keptVariables } from './service-variables.ts';
import { folders } from './state.ts';

/**
 * `node service-command.ts catalog import FILE` runs a command of a service with the settings of the
 * local system; `all config` runs it for each service.
 */
const [name = '', ...args] = process.argv.slice(2);
const services = SERVICE_NAMES.filter((service) => name === service || name === 'all');
if (services.length === 0) {
  console.error(`Cannot run a command of "${name}": expected ${SERVICE_NAMES.join(', ')} or all`);
  process.exit(2);
}
if (args[0] === 'import' && readKind(folders.run)) {
  console.error(
    'Cannot import: the catalog runs on a kind cluster, and make import needs processes',
  );
  process.exit(1);
}
await Promise.all(services.map(buildService));
createPrivateFolder(folders.data);
const { DATABASE_URL, REDIS_URL } = keptVariables(folders.run) ?? process.env;
const env = { ...process.env, DATABASE_URL, REDIS_URL };
// Ctrl-C interrupts the command too, which decides how it ends.
process.on('SIGINT', () => {});
for (const [index, service] of services.entries()) {
  if (services.length > 1) console.log(`${index === 0 ? '' : '\n'}${service}`);
  const child = spawn(process.execPath, [bundleOf(service), ...args], {
    // A command does not use the edge.
    env: environmentOf(service, { folders, env, edgePort: 8080 }),
    stdio: 'inherit',
  });
  const [code] = await once(child, 'close');
  process.exitCode ||= code ?? 1;
}
