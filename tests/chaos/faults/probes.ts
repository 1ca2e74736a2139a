import { issueToken } from '../../../deploy/local/token.ts';
import type { FaultySystem } from './system.ts';

/** The kinds of requests that clients send during a fault. */
export const PROBE_NAMES = [
  'read users',
  'create user',
  'catalog',
  'list reports',
  'report',
] as const;
export type ProbeName = (typeof PROBE_NAMES)[number];

/** A request and what its client saw. */
export interface Sample {
  readonly probe: ProbeName;
  readonly sentMs: number;
  readonly tookMs: number;
  /** `ok`, `partial` (a report without all statistics), a status, or what is wrong with the response: `no HTTP`. */
  readonly outcome: string;
}

/** A client that sends each kind of request. */
export interface Client {
  /** Sends each kind of request a few times. */
  warmUp(): Promise<void>;
  send(probe: ProbeName): Promise<Sample>;
  /** Counts the users whose creation was acknowledged and that cannot be read. */
  countLost(): Promise<number>;
  /** Whether the rate limit is exact: Valkey counts a request. */
  isLimitExact(): Promise<boolean>;
  /** The processes whose health endpoint `path` does not respond with 200 within 2 s. */
  findFailing(path: '/livez' | '/readyz'): Promise<readonly string[]>;
}

/** Longer than every time-out of the system. */
const PATIENCE_MS = 90_000;

/** Creates a client of `system`; every request has its own user, so that no rate limit applies. */
export function createClient(system: FaultySystem): Client {
  const { origin, secret, replicas } = system;
  const created: string[] = [];
  let sent = 0;

  function request(probe: ProbeName): Promise<Response> {
    const number = sent++;
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const token = issueToken({ secret, user: `client-${number}`, tier: 'free' });
    const get = (path: string, headers = {}) => fetch(origin + path, { headers, signal });
    const authorization = `Bearer ${token}`;
    switch (probe) {
      case 'read users':
        return get('/api/v2/users?limit=1');
      case 'catalog':
        return get('/api/v2/catalog?limit=1');
      case 'list reports':
        return get('/api/v1/reports', { authorization });
      case 'report':
        return get('/api/v2/reports/overview', { authorization, accept: 'application/json' });
      case 'create user':
        return fetch(`${origin}/api/v2/users`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ name: 'Ada', email: `${crypto.randomUUID()}@example.com` }),
          signal,
        });
    }
  }

  async function outcomeOf(probe: ProbeName): Promise<string> {
    const response = await request(probe);
    const { status, headers } = response;
    const body = JSON.parse(await response.text());
    if (status === 201) created.push(body.data.id);
    if (status < 300) return body.meta?.partial ? 'partial' : 'ok';
    const type = headers.get('content-type') ?? '';
    if (!type.startsWith('application/problem+json') || body.status !== status) {
      return `${status} without a problem`;
    }
    if (status >= 500 && !headers.has('retry-after')) return `${status} without Retry-After`;
    return String(status);
  }

  async function send(probe: ProbeName): Promise<Sample> {
    const sentMs = performance.now();
    const outcome = await outcomeOf(probe).catch(describeError);
    return { probe, sentMs, tookMs: performance.now() - sentMs, outcome };
  }

  return {
    send,
    async warmUp() {
      for (let round = 0; round < 10; round++) await Promise.all(PROBE_NAMES.map(send));
    },
    async countLost() {
      let lost = 0;
      for (const id of created) {
        const response = await fetch(`${origin}/api/v2/users/${id}`);
        await response.arrayBuffer();
        if (response.status !== 200) lost++;
      }
      return lost;
    },
    async isLimitExact() {
      const user = `client-${sent}`;
      return (await outcomeOf('list reports').catch(() => '')) === 'ok' && system.isCounted(user);
    },
    async findFailing(path) {
      const states = await Promise.all(
        replicas.map(({ healthPort }) => isOk(`http://127.0.0.1:${healthPort}${path}`)),
      );
      return replicas.filter((_, index) => !states[index]).map(({ name }) => name);
    },
  };
}

/** What is wrong with a response that the client cannot read. */
function describeError({ message, cause }: Error): string {
  if (!(cause instanceof Error)) return message;
  return cause.name === 'HTTPParserError' ? 'no HTTP' : cause.message;
}

async function isOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) });
    await response.arrayBuffer();
    return response.status === 200;
  } catch {
    return false;
  }
}
