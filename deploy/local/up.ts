import { parseArgs } from 'node:util';

import { createLaunch } from './launch.ts';
import { folders, readRunning } from './state.ts';
import { describeStores, readStores } from './stores.ts';

function readPort(): number {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1024 || port > 60_000) {
    throw new Error(`PORT must be an integer from 1024 to 60000, got "${values.port}"`);
  }
  return port;
}

async function up(): Promise<void> {
  const port = readPort();
  const stores = readStores(process.env);
  const launch = createLaunch({ folders, port, stores, say: console.log });
  const interrupted = new Promise<never>((_, reject) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.once(name, () => reject(new Error('\nInterrupted: stopping what was started')));
    }
  });
  try {
    await Promise.race([launch.up(), interrupted]);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    await launch.takeBack();
    process.exit(1);
  }
  printAddresses(`http://localhost:${port}`, describeStores(stores));
}

function printAddresses(origin: string, stores: string): void {
  const services = readRunning(folders.run).filter(({ name }) => name !== 'edge');
  const ports = services.map(({ name, address }) => `${name} :${new URL(address).port}`);
  console.log(`
Open      ${origin}
Docs      ${origin}/docs/users, /docs/catalog, /docs/reports
Replicas  ${ports.join(', ')}
Stores    ${stores}

Try
  curl -X POST ${origin}/api/v1/users -H 'content-type: application/json' -d '{"name":"Ada","email":"ada@example.org"}'
  curl '${origin}/api/v2/catalog?q=turntable&sort=-price&limit=3'
  curl -H "Authorization: Bearer $(make --silent token)" ${origin}/api/v2/reports/overview

make token USER=ada TIER=pro gives a token, make logs follows the logs, make down stops everything
`);
}

await up();
