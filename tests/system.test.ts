import { onTestFinished, test } from 'vitest';

import { startTrialStores } from '../deploy/local/testing/trial-stores.ts';
import { startTrialSystem } from '../deploy/local/testing/trial-system.ts';
import { readOrCreateSecret } from '../deploy/local/token.ts';
import { checkSystem } from './check-system.ts';

// With SQLite and memory: `make up`, then `make smoke`.
test('the system on PostgreSQL and Redis passes the contract and smoke tests', async () => {
  const { variables, stop: stopStores } = await startTrialStores();
  onTestFinished(stopStores);
  const { origin, folders, stop } = await startTrialSystem(variables);
  onTestFinished(stop);

  await checkSystem({ base: origin, secret: readOrCreateSecret(folders.run) });
}, 300_000);
