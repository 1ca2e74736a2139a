import type { PartProxy } from '../toxiproxy.ts';
import type { FaultySystem, PartName } from './system.ts';

/** Begins or ends a disturbance of the part `name`. */
type Change = (system: FaultySystem, name: PartName) => unknown;

interface Fault {
  readonly begin: Change;
  readonly end: Change;
}

function disturbProxies(disturb: (proxy: PartProxy) => Promise<void>): Fault {
  const changeAll =
    (change: (proxy: PartProxy) => Promise<void>): Change =>
    (system, name) =>
      Promise.all(system.part(name).proxies.map(change));
  return { begin: changeAll(disturb), end: changeAll((proxy) => proxy.heal()) };
}

/** Moves the clock of all processes except the servers. */
function moveClock(hours: number): Fault {
  return {
    begin: (system) => system.setClock(hours * 3_600),
    end: (system) => system.setClock(0),
  };
}

/** What can happen to a part. */
export const FAULTS = {
  killed: {
    begin: (system, name) => system.part(name).kill(),
    end: (system, name) => system.part(name).restart(),
  },
  hung: {
    begin: (system, name) => system.part(name).pause(),
    end: (system, name) => system.part(name).resume(),
  },
  'slow (100 ms)': disturbProxies((proxy) => proxy.delay(100)),
  'slow (3 s)': disturbProxies((proxy) => proxy.delay(3_000)),
  'refusing connections': disturbProxies((proxy) => proxy.refuse()),
  'sending garbage': disturbProxies((proxy) => proxy.sendGarbage()),
  'DNS failure': {
    // Existing connections do not need the name: they are closed.
    async begin(system, name) {
      const { hostName, namedProxies } = system.part(name);
      system.setFailingNames([hostName]);
      await Promise.all(namedProxies.map((proxy) => proxy.disconnect()));
    },
    end: (system) => system.setFailingNames([]),
  },
  'disk full': {
    begin: ({ disk }) => disk.fill(),
    end: ({ disk }) => disk.free(),
  },
  'set back by an hour': moveClock(-1),
  'set forward by an hour': moveClock(1),
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof FAULTS;
