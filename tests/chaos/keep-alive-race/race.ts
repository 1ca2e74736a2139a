import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { send } from '../../../deploy/local/testing/send.ts';
import type { TrialEdge } from '../../../deploy/local/testing/trial-edge.ts';

/** Connections that the edge keeps to a replica (`keepalive` in upstreams.conf). */
const CONNECTIONS = 32;

/** The requests arrive up to this long before and after the connections are closed. */
const SPREAD_MS = 30;

const CREATE = {
  method: 'POST',
  path: '/api/v2/users',
  headers: { 'content-type': 'application/json' },
};

export interface RaceOptions {
  /** After this time without a request, the connections between edge and service are closed. */
  readonly idleMs: number;
  /** Bursts of requests per edge. */
  readonly bursts: number;
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
  const { idleMs, bursts } = options;
  const statuses: Record<number, number> = {};
  const created: string[] = [];
  const run = async ({ origin }: TrialEdge, index: number) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
    const port = Number(new URL(origin).port);
    // One edge after the other: a burst that takes long has no common end.
    await sleep((idleMs / edges.length) * index);
    for (let burst = 0; burst < bursts; burst++) {
      if (burst > 0) await sleep(idleMs + (2 * Math.random() - 1) * SPREAD_MS);
      const emails = Array.from({ length: CONNECTIONS }, () => `${randomUUID()}@example.org`);
      await Promise.all(
        emails.map(async (email) => {
          const body = JSON.stringify({ name: 'Race', email });
          const status = await send({ ...CREATE, body }, { port, agent });
          statuses[status] = (statuses[status] ?? 0) + 1;
          if (status === 201) created.push(email);
        }),
      );
    }
    agent.destroy();
  };
  await Promise.all(edges.map(run));
  return { statuses, created };
}
