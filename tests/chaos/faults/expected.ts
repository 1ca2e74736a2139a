import type { FaultName } from './faults.ts';
import type { ProbeName } from './probes.ts';
import type { PartName } from './system.ts';

/** What the clients of a request see during a fault: one of `outcomes`, within `seconds`. */
export interface Promised {
  readonly outcomes: readonly string[];
  readonly seconds: number;
}

/** What the system promises for faults with the same consequences. */
export interface Expectation {
  readonly part: PartName;
  readonly faults: readonly FaultName[];
  /** The requests that are affected; all others succeed within a second. */
  readonly affected?: Partial<Readonly<Record<ProbeName, Promised>>>;
  /** Whether the limits count across replicas, or each replica alone. Default: across replicas. */
  readonly limits?: 'exact' | 'per replica' | 'any';
  /** How long the fault lasts in the full form. Default 10 s. */
  readonly seconds?: number;
}

/** After every fault, the system works as before within this time. */
export const RECOVERY_SECONDS = 5;

function within(seconds: number, ...outcomes: readonly string[]): Promised {
  return { outcomes, seconds };
}

function databaseRequests(promised: Promised) {
  return { 'read users': promised, 'create user': promised, catalog: promised };
}

/** A report without the statistics of a service: two attempts of a second each, and a pause. */
const PARTIAL = { report: within(2.5, 'partial') };

/** The promises while the replicas of a service fail, whose clients send `probes`. */
function serviceFaults(
  part: 'users' | 'catalog',
  probes: readonly ProbeName[],
): readonly Expectation[] {
  const affect = (seconds: number, ...outcomes: readonly string[]) => ({
    ...Object.fromEntries(probes.map((probe) => [probe, within(seconds, ...outcomes)])),
    ...PARTIAL,
  });
  return [
    // For one second, the edge skips a replica that has failed: 503 if it skips both.
    { part, faults: ['killed', 'refusing connections'], affected: affect(1, '502', '503') },
    // The edge waits for 30 s, twice if the request can be repeated; meanwhile it skips the replicas.
    { part, faults: ['hung'], affected: affect(61, '502', '503', '504'), seconds: 66 },
    { part, faults: ['slow (100 ms)'] },
    { part, faults: ['slow (3 s)'], affected: affect(4, 'ok') },
    // nginx takes bytes that are not HTTP for a response of HTTP/0.9, and passes them on.
    { part, faults: ['sending garbage'], affected: affect(1, '502', '503', 'no HTTP') },
    { part, faults: ['DNS failure'], affected: PARTIAL },
  ];
}

/** The promises, by the part that fails. */
export const EXPECTED: readonly Expectation[] = [
  {
    part: 'PostgreSQL',
    faults: ['killed', 'refusing connections', 'sending garbage', 'DNS failure'],
    affected: { ...databaseRequests(within(1, '503')), ...PARTIAL },
  },
  {
    part: 'PostgreSQL',
    faults: ['hung'],
    // DATABASE_STATEMENT_TIMEOUT_MS is 5 s.
    affected: { ...databaseRequests(within(5.5, '503')), ...PARTIAL },
  },
  { part: 'PostgreSQL', faults: ['slow (100 ms)'] },
  {
    part: 'PostgreSQL',
    faults: ['slow (3 s)'],
    // A new connection needs further responses.
    affected: { ...databaseRequests(within(15, 'ok')), ...PARTIAL },
  },
  {
    part: 'PostgreSQL',
    faults: ['disk full'],
    // Tables have some free space.
    affected: { 'create user': within(1, 'ok', '503') },
  },
  {
    part: 'SQLite',
    faults: ['disk full'],
    affected: { 'create user': within(1, 'ok', '503') },
  },
  {
    part: 'Valkey',
    faults: [
      'killed',
      'hung',
      'slow (3 s)',
      'refusing connections',
      'sending garbage',
      'DNS failure',
    ],
    limits: 'per replica',
  },
  // The limiter waits for 100 ms.
  { part: 'Valkey', faults: ['slow (100 ms)'], limits: 'any' },
  ...serviceFaults('users', ['read users', 'create user']),
  ...serviceFaults('catalog', ['catalog']),
  { part: 'clock', faults: ['set back by an hour', 'set forward by an hour'] },
];
