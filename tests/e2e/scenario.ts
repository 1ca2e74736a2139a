import type { Cluster } from '../../deploy/local/cluster/cluster.ts';
import type { Settings } from './settings.ts';
import type { Space } from './space.ts';

/** What a scenario works with. */
export interface World {
  readonly cluster: Cluster;
  readonly settings: Settings;
  /** The folder of the charts, packed. */
  readonly charts: string;
  /** A namespace of its own that enforces "restricted", removed afterwards. */
  readonly space: Space;
  /** Tells the reader what is being done: it is named too if that takes too long. */
  say(step: string): void;
  /** Takes something back when the scenario is over, whatever came of it; the last first. */
  afterwards(undo: (cluster: Cluster) => Promise<void>): void;
}

/** One thing that has to hold on a real cluster. */
export interface Scenario {
  readonly name: string;
  /** The fact, as a sentence. */
  readonly title: string;
  /** How long it may take. */
  readonly seconds: number;
  /** Says what the cluster or the settings lack, where it cannot be tried; nothing otherwise. */
  lacks?(world: Pick<World, 'cluster' | 'settings'>): Promise<string | undefined>;
  /** Rejects, saying what is otherwise, if the fact does not hold. */
  run(world: World): Promise<void>;
}
