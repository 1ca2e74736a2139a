import type { Toxiproxy } from '../toxiproxy.ts';
import type { Disk } from './disk.ts';

export interface FaultySystemOptions {
  /** Where users and catalog keep their data. */
  readonly database: 'PostgreSQL' | 'SQLite';
  /** Whether `setClock` works, which needs libfaketime. Default false. */
  readonly hasClock?: boolean;
}

/** What the start of each part of the system uses. */
export interface Setup extends FaultySystemOptions {
  /** Contains the data of the databases, and all logs. */
  readonly disk: Disk;
  readonly toxiproxy: Toxiproxy;
  /** Called in reverse order when the system stops. */
  readonly stops: (() => unknown)[];
}
