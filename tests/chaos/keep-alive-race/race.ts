import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import type { TrialEdge } from '../../../deploy/local/testing/trial-edge.ts';

/** Connections that the edge keeps to a replica (`keepalive` in upstreams.conf). */
const CONNECTIONS = 32;

/** The requests arrive up to this long before and after the connections are closed. */
const SPREAD_MS = 30;

export interface RaceOptions {
  /** After this time without a request, the connections between edge and service are closed. */
  readonly idleMs: number;
  /** Bursts of requests per edge. */
  readonly bursts: number;
  readonly onBurst: (posts: number) => void;
  /** Ends the race early. Default: never. */
  readonly isDecided?: (result: RaceResult) => boolean;
}

/** The responses by status, and the e-mail addresses of the users that were created. */
export interface RaceResult {
  readonly statuses: Readonly<Record<number, number>>;
  readonly created: readonly string[];
}

/**
 * Sends bursts of POSTs through each edge. Each burst uses all idle connections at the moment at which
 * they are being closed.
 */
export async function race(edges: readonly TrialEdge[], options: RaceOptions): Promise<RaceResult> {
  const { idleMs, bursts, onBurst, isDecided = () => false } = options;
  const statuses: Record<number, number> = {};
  const created: string[] = [];
  const result = { statuses, created };
  let posts = 0;
  const run = async ({ origin }: TrialEdge, index: number) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    // One edge after the other: a burst that takes long has no common end.
    await sleep((idleMs / edges.length) * index);
    for (let burst = 0; burst < bursts && !isDecided(result); burst++) {
      if (burst > 0) await sleep(idleMs + (2 * Math.random() - 1) * SPREAD_MS);
      const emails = Array.from({ length: CONNECTIONS }, () => `${randomUUID()}@example.org`);
      await Promise.all(
        emails.map(async (email) => {
          const status = await createUser(origin, { agent, email });
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status === 201) created.push(email);
        }),
      );
      posts += emails.length;
      onBurst(posts);
    }
    agent.destroy();
  };
  await Promise.all(edges.map(run));
  return result;
}

interface Creation {
  readonly agent: http.Agent;
  readonly email: string;
}

/** Resolves with the status of the response. `fetch` would repeat some failed requests. */
function createUser(origin: string, { agent, email }: Creation): Promise<number> {
  const body = JSON.stringify({ name: 'Race', email });
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  return new Promise((resolve, reject) => {
    http
      .request(`${origin}/api/v2/users`, { method: 'POST', agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode ?? 0));
      })
      .on('error', reject)
      .end(body);
  });
}
