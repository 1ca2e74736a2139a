import type { Processes } from '../processes.ts';
import type { PartProxy } from '../toxiproxy.ts';

/** The parts of the system that can fail. */
export type PartName = 'PostgreSQL' | 'SQLite' | 'Valkey' | 'users' | 'catalog' | 'clock';

/** The processes of a part, and the connections to them. */
export interface Part extends Pick<Processes, 'kill' | 'restart' | 'pause' | 'resume'> {
  /** The name that its clients look up. */
  readonly hostName: string;
  /** Its clients connect through these. */
  readonly proxies: readonly PartProxy[];
  /** The connections of the clients that look up its name. */
  readonly namedProxies: readonly PartProxy[];
}
