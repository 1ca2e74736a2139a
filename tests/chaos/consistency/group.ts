import { setTimeout as sleep } from 'node:timers/promises';

import type { Client, Outcome, Request } from './client.ts';

/** A request and its response. Without `status` the outcome is unknown. Times are in microseconds. */
export type Operation = Request &
  Partial<Outcome> & { readonly client: number; readonly call: number; readonly return: number };

/** Operations on idempotency keys, e-mail addresses and users that no other group uses. */
export interface Group {
  readonly name: string;
  readonly operations: readonly Operation[];
  /** Sends random operations from concurrent clients. */
  run(): Promise<void>;
  /** Repeats the creation of each idempotency key, and reads each user: an acknowledged write must still be there. */
  readBack(): Promise<void>;
}

const CLIENTS = 4;
const OPERATIONS = 24;
/** Operations without a known outcome are concurrent with all later ones, which the checker must order. */
const MAX_UNKNOWN = 6;
/** As in checker/model.go. */
const KEYS = 4;
const ADDRESSES = 2;
const MAX_DELAY_MS = 1_000;

/** Creates a group whose `name` is unique. */
export function createGroup(name: string, client: Client): Group {
  const operations: Operation[] = [];
  /** The latest known version of each user. */
  const versions = new Map<string, number>();
  let started = 0;
  let unknown = 0;

  /** Returns whether the outcome is known; if not, waits until the system responds again. */
  async function perform(clientNumber: number, request: Request): Promise<boolean> {
    const call = now();
    const outcome = await client.send(name, request);
    const times = { client: clientNumber, call, return: now() };
    const user = outcome?.user;
    if (user) versions.set(user.id, Math.max(user.version, versions.get(user.id) ?? 0));
    // A read without a response has neither an effect nor a result.
    if (outcome || request.kind !== 'read') operations.push({ ...request, ...outcome, ...times });
    if (!outcome) await client.untilAvailable();
    return outcome !== undefined;
  }

  async function runClient(number: number): Promise<void> {
    while (started < OPERATIONS && unknown < MAX_UNKNOWN) {
      if (await perform(number, chooseRequest(name, ++started, versions))) continue;
      unknown++;
      // A suspended process executes the request later.
      await sleep(Math.random() * MAX_DELAY_MS);
    }
  }

  async function repeat(request: Request): Promise<void> {
    while (!(await perform(0, request)));
  }

  return {
    name,
    operations,
    async run() {
      await Promise.all(Array.from({ length: CLIENTS }, (_, number) => runClient(number)));
    },
    async readBack() {
      for (const creation of creationsOf(operations)) await repeat(creation);
      for (const id of versions.keys()) await repeat({ kind: 'read', id });
    },
  };
}

/** One request per idempotency key. */
function creationsOf(operations: readonly Operation[]): Request[] {
  const creations = operations.filter((operation) => operation.kind === 'create');
  const requests = creations.map(({ kind, key, name, email }) => ({ kind, key, name, email }));
  return [...new Map(requests.map((request) => [request.key, request])).values()];
}

function chooseRequest(
  group: string,
  number: number,
  versions: ReadonlyMap<string, number>,
): Request {
  const email = `${group}-${below(ADDRESSES)}@example.com`;
  const [id, version] = [...versions][below(versions.size)] ?? [];
  const roll = Math.random();
  if (id === undefined || version === undefined || roll < 0.25) {
    const key = below(KEYS);
    return { kind: 'create', key, name: `Key ${key}`, email };
  }
  if (roll < 0.5) return { kind: 'read', id };
  if (roll < 0.85) {
    const change = roll < 0.75 ? { name: `Change ${number}` } : { email };
    return { kind: 'change', id, ifVersion: version, ...change };
  }
  return { kind: 'delete', id, ...(roll < 0.95 && { ifVersion: version }) };
}

function below(limit: number): number {
  return Math.floor(Math.random() * limit);
}

function now(): number {
  return Math.round(performance.now() * 1_000);
}
