import { setTimeout as sleep } from 'node:timers/promises';

import { SERVICES, type ServiceName, serviceOf } from '../../../services/services.ts';
import { folders } from '../state.ts';
import type { HttpRequest } from '../testing/send.ts';
import { issueToken, readOrCreateSecret } from '../token.ts';

/** A kind of request; each request has its own `user`. */
export type RequestKind = (user: string) => HttpRequest;

/** The kinds of requests to a service: its list, and a new user; a report if it needs tokens. */
export function kindsOf(service: ServiceName): readonly RequestKind[] {
  const { name, versions, authenticated } = serviceOf(service);
  const path = `/api/${versions.at(-1)}/${name}`;
  if (authenticated) {
    const secret = readOrCreateSecret(folders.run);
    return [
      (user) => ({
        ...{ method: 'GET', path: `${path}/overview` },
        headers: { authorization: `Bearer ${issueToken({ secret, user, tier: 'free' })}` },
      }),
    ];
  }
  const list = () => ({ method: 'GET', path: `${path}?limit=20` });
  if (name !== 'users') return [list];
  const create: RequestKind = (user) => ({
    ...{ method: 'POST', path, headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ name: user, email: `${user}@example.org` }),
  });
  return [list, create];
}

/** Returns the requests of `kinds` in turn, each of another user. */
export function inTurn(kinds: readonly RequestKind[]): () => HttpRequest {
  const run = Date.now();
  let count = 0;
  return () => {
    const kind = kinds[count++ % kinds.length] as RequestKind;
    return kind(`cost-${run}-${count}`);
  };
}

/**
 * Sends `rate` requests per second to the system at `base`, of every kind equally many. Returns the paths of the new
 * users.
 *
 * @throws {Error} if a response is not a success
 */
export async function sendLoad(
  base: string,
  { rate, seconds }: { readonly rate: number; readonly seconds: number },
): Promise<string[]> {
  const next = inTurn(SERVICES.flatMap(({ name }) => kindsOf(name)));
  const created: string[] = [];
  const send = async () => {
    const location = await sendRequest(base, next());
    if (location) created.push(location);
  };
  const startedMs = performance.now();
  const sent: Promise<void>[] = [];
  while (sent.length < rate * seconds) {
    const due = Math.min(rate * seconds, ((performance.now() - startedMs) / 1000) * rate);
    while (sent.length < due) sent.push(send());
    await Promise.race([sleep(5), Promise.all(sent)]);
  }
  await Promise.all(sent);
  return created;
}

/** Sends a request; returns the `Location` of the response. @throws {Error} if it is not a success */
export async function sendRequest(
  base: string,
  { path, ...init }: HttpRequest,
): Promise<string | null> {
  const response = await fetch(base + path, { ...init, signal: AbortSignal.timeout(10_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} responded with ${response.status}: ${text}`);
  return response.headers.get('location');
}
