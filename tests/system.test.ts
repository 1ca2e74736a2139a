import { onTestFinished, test, vi } from 'vitest';

import type { Stores } from '../deploy/local/processes/stores.ts';
import { startTrialStores } from '../deploy/local/testing/trial-stores.ts';
import { startTrialSystem } from '../deploy/local/testing/trial-system.ts';
import { readOrCreateSecret } from '../deploy/local/token.ts';
import { checkSystem } from './check-system.ts';

vi.setConfig({ testTimeout: 300_000 });

async function checkNewSystem(stores: Stores): Promise<void> {
  const { origin, folders, stop } = await startTrialSystem(stores);
  onTestFinished(stop);
  await checkSystem({ base: origin, secret: readOrCreateSecret(folders.run) });
}

test('the system on SQLite and memory passes the contract and smoke tests', () =>
  checkNewSystem({}));

test('the system on PostgreSQL and Redis passes the contract and smoke tests', async () => {
  const { variables, stop } = await startTrialStores();
  onTestFinished(stop);

  await checkNewSystem(variables);
});
