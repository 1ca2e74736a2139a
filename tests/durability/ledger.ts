import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** The users that clients created, and the requests without a response. */
export interface Ledger {
  /** The user id of each request with a response, by its idempotency key. */
  readonly acknowledged: Map<string, string>;
  /** Keys of requests without a response: their users may or may not exist. */
  readonly pending: Set<string>;
  /** Number of users that existed although their request had no response. */
  keptWithoutResponse: number;
}

/** A comparison of the stored users with a ledger. */
export interface Audit {
  readonly acknowledged: number;
  /** Requests that crashed between commit and response; when repeated, they returned the same user. */
  readonly keptWithoutResponse: number;
  /** Acknowledged users that are missing. */
  readonly lost: number;
  /** Stored users that no client has created. */
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
  return { acknowledged: new Map(), pending: new Set(), keptWithoutResponse: 0 };
}

/** Creates users one after the other with idempotency keys, until `isOver`. */
export async function write(url: string, ledger: Ledger, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    const key = randomUUID();
    ledger.pending.add(key);
    await acknowledge(url, ledger, key).catch(() => sleep(5));
  }
}

/**
 * Repeats every request without a response until it has one.
 *
 * @throws {Error} if a repeated request returns another user than the stored one
 */
export async function settle(url: string, ledger: Ledger): Promise<void> {
  await Promise.all(
    [...ledger.pending].map(async (key) => {
      const kept = await retry(async () => {
        const { data } = await getPage(`${url}/api/v2/users?email=${key}@example.com`);
        return data[0]?.id;
      });
      const id = await retry(() => acknowledge(url, ledger, key));
      if (kept !== undefined) ledger.keptWithoutResponse++;
      if (kept !== undefined && kept !== id) throw new Error(`One key created two users: ${key}`);
    }),
  );
}

/** Compares the users of the service with the ledger. */
export async function audit(url: string, ledger: Ledger): Promise<Audit> {
  const { acknowledged, keptWithoutResponse } = ledger;
  const stored = new Set<string>();
  let cursor = '';
  do {
    const { data, meta } = await retry(() =>
      getPage(`${url}/api/v2/users?limit=100${cursor && `&cursor=${cursor}`}`),
    );
    for (const { id } of data) stored.add(id);
    cursor = encodeURIComponent(meta.nextCursor ?? '');
  } while (cursor);
  const known = new Set(acknowledged.values());
  return {
    acknowledged: acknowledged.size,
    keptWithoutResponse,
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

/** Repeats `work` until it succeeds, for at most 30 s. */
async function retry<T>(work: () => Promise<T>): Promise<T> {
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
