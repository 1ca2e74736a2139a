import path from 'node:path';

import { newFolder, startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { startTrialEdge } from '../../deploy/local/testing/trial-edge.ts';
import { type RaceResult, race } from './keep-alive-race/race.ts';
import { FULL, writeResultsOf } from './results.ts';

const USERS = new URL('../../services/users/src/main.ts', import.meta.url);

/** How long the edge keeps an idle connection to a service. */
const EDGE_IDLE_MS = 3_000;

const bursts = FULL ? 21 : 5;

/** Starts the users service, and edges in front of it. */
async function startSystem(variables: Readonly<Record<string, string>>) {
  const DATABASE_FILE = path.join(newFolder(), 'users.db');
  const service = await startTestService(USERS, { DATABASE_FILE, TRUST_PROXY: '1', ...variables });
  const upstreams = { users: [Number(new URL(service.url).port)] };
  const edges = await Promise.all(Array.from({ length: 16 }, () => startTrialEdge(upstreams)));
  onTestFinished(async () => void (await Promise.all(edges.map((edge) => edge.stop()))));
  return { service, edges };
}

/** How often each e-mail address was stored. */
async function storedEmails(url: string): Promise<Map<string, number>> {
  const response = await fetch(`${url}/api/v1/users`);
  const { data } = (await response.json()) as { data: readonly { email: string }[] };
  const byEmail = Map.groupBy(data, ({ email }) => email);
  return new Map(byEmail.entries().map(([email, users]) => [email, users.length]));
}

const rows: string[][] = [];

function report(closesFirst: string, { statuses }: RaceResult): void {
  const posts = Object.values(statuses).reduce((sum, count) => sum + count, 0);
  rows.push([closesFirst, String(posts), String(statuses[201] ?? 0), String(statuses[502] ?? 0)]);
}

writeResultsOf(2, 'keep-alive-race', () =>
  markdownTable(['closes idle connections first', 'POSTs', '201', '502'], rows),
);

test.for([
  ['as long as by default', {}, 'edge, after 3 s; the service after 75 s'],
  [
    'one second longer than the edge',
    { KEEP_ALIVE_TIMEOUT_MS: String(EDGE_IDLE_MS + 1_000) },
    'edge, after 3 s; the service after 4 s',
  ],
] as const)(
  'no POST is lost or repeated if the service keeps idle connections %s',
  { timeout: 300_000 },
  async ([, variables, closesFirst]) => {
    const { service, edges } = await startSystem(variables);

    const result = await race(edges, { idleMs: EDGE_IDLE_MS, bursts });

    report(closesFirst, result);
    const { statuses, created } = result;
    expect(statuses).toEqual({ 201: 16 * 32 * bursts });
    const stored = await storedEmails(service.url);
    expect(stored).toEqual(new Map(created.map((email) => [email, 1])));
  },
);
