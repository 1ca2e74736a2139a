import { setTimeout as sleep } from 'node:timers/promises';

import type { Client } from './client.ts';
import type { Group, Operation, Request } from './operation.ts';

/** Concurrent clients of a group. */
const CLIENTS = 4;
const OPERATIONS = 24;
/** Operations without a known outcome are concurrent with all later ones, which the checker must order. */
const MAX_UNKNOWN = 6;
/** As in checker/model.go. */
const KEYS = 4;
const ADDRESSES = 2;
const MAX_DELAY_MS = 1_000;

/** Runs the operations of a new group; `name` is unique. */
export async function runGroup(name: string, client: Client): Promise<Group> {
  const operations: Operation[] = [];
  /** The latest known version of each user. */
  const versions = new Map<string, number>();
  let started = 0;
  let unknown = 0;

  async function runClient(number: number): Promise<void> {
    while (started < OPERATIONS && unknown < MAX_UNKNOWN) {
      const request = chooseRequest(name, ++started, versions);
      const call = now();
      const outcome = await client.send(name, request);
      const times = { client: number, call, return: now() };
      const user = outcome?.user;
      if (user) versions.set(user.id, Math.max(user.version, versions.get(user.id) ?? 0));
      // A read without a response has neither an effect nor a result.
      if (outcome || request.kind !== 'read') operations.push({ ...request, ...outcome, ...times });
      if (!outcome) {
        unknown++;
        await client.untilAvailable();
        // A suspended process executes the request later.
        await sleep(Math.random() * MAX_DELAY_MS);
      }
    }
  }

  await Promise.all(Array.from({ length: CLIENTS }, (_, number) => runClient(number)));
  return { name, operations };
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
