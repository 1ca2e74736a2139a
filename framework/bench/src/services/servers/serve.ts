import type { ServiceEdge } from '@fw/service';
import { type Application, listen } from 'fw';

import { serveMeasured } from '../../measured.ts';
import { CONTESTANTS, type Settings } from '../contestant.ts';
import { createPeer, type Routes } from '../peers/peer.ts';
import { productionEdge } from './production-edge.ts';

const HERE = { port: 0, host: '127.0.0.1' };

/** One service on both frameworks. */
export interface Subject<Store> {
  /** The store that both have, with what is read from it in it. */
  openStore(settings: Settings): Promise<Store>;
  createApp(store: Store, edge: ServiceEdge): Application;
  readonly peer: Routes<Store>;
}

/** Runs this process as one contestant: `node <service>.js <contestant> <settings>`. */
export async function serve<Store>({ openStore, createApp, peer }: Subject<Store>): Promise<void> {
  const [name = '', settings = ''] = process.argv.slice(2);
  const contestant = CONTESTANTS.find((known) => known === name);
  if (!contestant) throw new RangeError(`Cannot run "${name}": expected ${CONTESTANTS.join(', ')}`);

  await serveMeasured(async () => {
    const store = await openStore(JSON.parse(settings) as Settings);
    const isProduction = contestant === 'fw' || contestant === 'fastify';
    if (contestant.startsWith('fw')) {
      // What observes requests is there without an edge too: the bundle of the bare one leaves it out.
      const app = createApp(store, isProduction ? productionEdge() : { trustProxy: 1 });
      return (await listen(app, HERE)).port;
    }
    const app = createPeer(isProduction);
    await peer(app, store);
    return Number(new URL(await app.listen(HERE)).port);
  });
}
