import { startToxiproxy } from '../toxiproxy.ts';
import { createDisk } from './disk.ts';
import type { Part, PartName } from './part.ts';
import { type Servers, startServers } from './servers.ts';
import { type Services, startServices } from './services.ts';
import type { FaultySystemOptions, Setup } from './setup.ts';

/** The whole system; every connection between its processes has a proxy. */
export interface FaultySystem
  extends Omit<Services, 'parts'>,
    Pick<Servers, 'isCounted'>,
    Pick<Setup, 'disk'> {
  /** @throws {RangeError} if the part has no processes, or the system does not have it */
  part(name: PartName): Part;
  stop(): Promise<void>;
}

/** Starts the services, the edge and their servers. */
export async function startFaultySystem(options: FaultySystemOptions): Promise<FaultySystem> {
  const stops: (() => unknown)[] = [];
  const stop = async () => {
    for (const end of stops.splice(0).reverse()) await end();
  };
  try {
    const disk = createDisk();
    stops.push(disk.remove);
    const toxiproxy = await startToxiproxy();
    stops.push(toxiproxy.stop);
    const setup = { ...options, disk, toxiproxy, stops };
    const { isCounted, stores, parts: servers } = await startServers(setup);
    const services = await startServices(setup, stores);
    const parts: Servers['parts'] = { ...servers, ...services.parts };
    const part = (name: PartName) => {
      const found = parts[name];
      if (!found) throw new RangeError(`Cannot disturb "${name}": expected a part of this system`);
      return found;
    };
    return { ...services, disk, isCounted, part, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
