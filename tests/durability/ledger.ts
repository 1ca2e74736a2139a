import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** What the clients of a service know about the users that they created. */
export interface Ledger {
  /** The user of each request that was answered, by the request's key. */
  readonly acknowledged: Map<string, string>;
  /** Keys of requests that were sent and not answered: kept or not, nobody knows. */
  readonly pending: Set<string>;
  /** How many of those had been kept all the same. */
  keptUnanswered: number;
}

/** What became of the users that a ledger knows of. */
export interface Audit {
  readonly acknowledged: number;
  /** Requests that the crash hit between the commit and the answer; asked again, they gave the same user. */
  readonly keptUnanswered: number;
  /** Acknowledged users that are not there. */
  readonly lost: number;
  /** Users that are there, and nobody was told of. */
  readonly surplus: number;
}

interface UserData {
  readonly id: string;
}

interface Page {
  readonly data: readonly UserData[];
  readonly meta: { readonly nextCursor?: string };
}

export function createLedger(): Ledger {
  return { acknowledged: new Map(), pending: new Set(), keptUnanswered: 0 };
}

/** Creates users one after the other, by requests that can be repeated, until `isOver`. */
export async function write(url: string, ledger: Ledger, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const key = randomUUID();
    ledger.pending.add(key);
    await acknowledge(url, ledger, key).catch(() => sleep(5));
  }
}

/**
 * Sends all requests again that were not answered, until they are.
 *
 * @throws {Error} if one gives another user than the one that had been kept
 */
export async function settle(url: string, ledger: Ledger): Promise<void> {
  await Promise.all(
    [...ledger.pending].map(async (key) => {
      const kept = await insist(async () => {
        const { data } = await getPage(`${url}/api/v2/users?email=${key}@example.com`);
        return data[0]?.id;
      });
      const id = await insist(() => acknowledge(url, ledger, key));
      if (kept !== undefined) ledger.keptUnanswered++;
      if (kept !== undefined && kept !== id) throw new Error(`Two users came of one key: ${key}`);
    }),
  );
}

/** Compares what the service has with what its clients know. */
export async function audit(url: string, ledger: Ledger): Promise<Audit> {
  const { acknowledged, keptUnanswered } = ledger;
  const stored = new Set<string>();
  let cursor = '';
  do {
    const { data, meta } = await insist(() =>
      getPage(`${url}/api/v2/users?limit=100${cursor && `&cursor=${cursor}`}`),
    );
    for (const { id } of data) stored.add(id);
    cursor = encodeURIComponent(meta.nextCursor ?? '');
  } while (cursor);
  const known = new Set(acknowledged.values());
  return {
    acknowledged: acknowledged.size,
    keptUnanswered,
    lost: known.difference(stored).size,
    surplus: stored.difference(known).size,
  };
}

async function acknowledge(url: string, ledger: Ledger, key: string): Promise<string> {
  const response = await fetch(`${url}/api/v2/users`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
    body: JSON.stringify({ name: 'Ada', email: `${key}@example.com` }),
  });
  if (response.status !== 201) {
    await response.arrayBuffer();
    throw new Error(`Cannot create a user: ${response.status}`);
  }
  const { data } = (await response.json()) as { data: UserData };
  ledger.acknowledged.set(key, data.id);
  ledger.pending.delete(key);
  return data.id;
}

async function getPage(url: string): Promise<Page> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`Cannot read users: ${response.status}`);
  return (await response.json()) as Page;
}

/** Tries until it succeeds, for at most 30 s. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
  const endMs = performance.now() + 30_000;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > endMs) throw error;
      await sleep(20);
    }
  }
}
