import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

import { MEASURED_CORE, nextMessage, startProcess, stopProcess } from '../process.ts';
import { rotate } from '../statistics.ts';
import type { Databases } from './databases.ts';
import { MEASURED_STORES, type MeasuredStore, WORKS, type Work } from './stores/store.ts';
import type { StoreRound } from './stores/store-process.ts';

const PROGRAM = fileURLToPath(new URL('stores/store-process.ts', import.meta.url));

/** One round of one work on one store. */
export interface StoreSample extends StoreRound {
  readonly store: MeasuredStore;
  readonly work: Work;
}

/** Measures what each store acknowledges, all in turn in each round. */
export async function measureStores(
  rounds: number,
  databases: Databases,
): Promise<readonly StoreSample[]> {
  const stores: { readonly store: MeasuredStore; readonly child: ChildProcess }[] = [];
  try {
    for (const store of MEASURED_STORES) {
      const place = await databases.create(store === 'sqlite' ? 'sqlite' : 'postgres');
      const command = [process.execPath, PROGRAM, store, JSON.stringify(place)];
      const child = startProcess(command, { core: MEASURED_CORE, channel: true });
      stores.push({ store, child });
      await nextMessage(child);
    }
    const samples: StoreSample[] = [];
    for (let round = 0; round < rounds; round++) {
      process.stderr.write(`services, stores, round ${round + 1} of ${rounds}\n`);
      for (const { store, child } of rotate(stores, round)) {
        for (const work of WORKS) {
          child.send(work);
          samples.push({ store, work, ...((await nextMessage(child)) as StoreRound) });
        }
      }
    }
    return samples;
  } finally {
    for (const { child } of stores) await stopProcess(child);
  }
}
