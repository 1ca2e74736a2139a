import type { ServiceEdge } from '@fw/service';
import { type Application, listen } from 'fw';

import { serveMeasured } from '../../measured.ts';
import { CONTESTANTS, OURS, type Settings, WHOLE } from '../contestant.ts';
import { createPeer, type Routes } from '../peers/peer.ts';
import { OUR_EDGES } from './our-edges.ts';

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
    const ours = OURS.find((known) => known === contestant);
    if (ours) return (await listen(createApp(store, OUR_EDGES[ours]()), HERE)).port;
    const app = createPeer(WHOLE.includes(contestant));
    await peer(app, store);
    return Number(new URL(await app.listen(HERE)).port);
  });
}
