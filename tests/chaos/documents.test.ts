import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { afterAll, beforeAll, expect, test } from 'vitest';

import { buildServices } from '../../deploy/local/processes/launch.ts';
import { markdownTable, writeSection } from '../../deploy/local/testing/markdown.ts';
import { issueToken } from '../../deploy/local/token.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { runSchemathesis } from '../conformance/schemathesis.ts';
import { FAULTS, type FaultName } from './faults/faults.ts';
import { type FaultySystem, type PartName, startFaultySystem } from './faults/system.ts';
import { FULL } from './results.ts';

/** The checks that hold with every fault; others depend on the state of the users. */
const CHECKS = ['status_code', 'content_type', 'response_headers', 'response_schema']
  .map((name) => `${name}_conformance`)
  .join();

/** Parts that fail together. */
const PARTS = {
  PostgreSQL: ['PostgreSQL'],
  Valkey: ['Valkey'],
  edge: ['edge'],
  services: SERVICE_NAMES,
} as const satisfies Record<string, readonly PartName[]>;

type Row = readonly [part: keyof typeof PARTS, fault: FaultName];

const KINDS = ['killed', 'hung', 'slow (100 ms)', 'restarted'] as const;
const ALL: readonly Row[] = [
  ...(Object.keys(PARTS) as (keyof typeof PARTS)[]).flatMap((part) =>
    KINDS.map((fault) => [part, fault] as const),
  ),
  ['services', 'replicas killed in turn'],
];
const FEW: readonly Row[] = [
  ['services', 'killed'],
  ['PostgreSQL', 'hung'],
  ['Valkey', 'slow (100 ms)'],
  ['edge', 'restarted'],
  ['services', 'restarted'],
];
const { rows, maxExamples, leastCases } = FULL
  ? { rows: ALL, maxExamples: 18, leastCases: 20_000 }
  : { rows: FEW, maxExamples: 1, leastCases: 1_000 };

/**
 * How long a fault lasts, and then the time until the next one: longer than the time-outs of what waits for
 * the part. Schemathesis waits up to 10 s before it repeats a request, the longer the edge is unavailable.
 */
function durationOf(part: Row[0], fault: FaultName): number {
  if (fault !== 'hung' || part === 'edge') return 2_000;
  return part === 'services' ? 35_000 : 8_000;
}

const results: (readonly (string | number)[])[] = [];
let total = 0;
let system: FaultySystem;
beforeAll(async () => {
  await buildServices();
  system = await startFaultySystem({ database: 'PostgreSQL' });
  for (const name of SERVICE_NAMES) {
    const response = await fetch(`${system.origin}/docs/${name}/openapi.json`);
    fs.writeFileSync(documentOf(name), await response.text());
  }
});
afterAll(() => system.stop());

const documentOf = (service: string) => path.join(system.disk.folder, `${service}.json`);

test.each(rows)('%s %s: the documents describe every response', async (part, fault) => {
  const statusFile = path.join(system.disk.folder, `${part} ${fault}`);
  const seed = String(1 + rows.findIndex((row) => row[0] === part && row[1] === fault));
  const token = issueToken({ secret: system.secret, user: seed, tier: 'pro' });
  // The edge may close a connection without a response, or be unavailable: those requests are repeated.
  const options = ['--seed', seed, '--request-retries', '30'];
  const args = ['--checks', CHECKS, '--max-examples', String(maxExamples), ...options];
  let isRunning = true;
  const runs = Promise.all(
    SERVICE_NAMES.map((name) =>
      runSchemathesis(system.proxiedOrigin, documentOf(name), { token, args, statusFile }),
    ),
  ).finally(() => {
    isRunning = false;
  });

  const faultMs = durationOf(part, fault);
  let rounds = 0;
  for (; isRunning; rounds++) {
    await change('begin');
    await Promise.race([runs, sleep(faultMs)]);
    await change('end');
    await Promise.race([runs, sleep(faultMs)]);
  }

  const seen = await runs;
  const statuses = fs.readFileSync(statusFile, 'utf8').trimEnd().split('\n');
  const failed = seen.filter(({ passed }) => !passed).map(({ output }) => output);
  expect(failed.join('\n')).toBe('');
  expect(system.findEnded()).toEqual([]);
  total += seen.reduce((sum, { cases }) => sum + cases, 0);
  const result = [part, fault, rounds, statuses.length, [...new Set(statuses)].sort().join(' ')];
  results.push(result);
  console.log(result.join('; '));

  function change(what: 'begin' | 'end') {
    return Promise.all(PARTS[part].map((name) => FAULTS[fault][what](system, name)));
  }
});

test('all runs together have enough cases', () => {
  expect(results).toHaveLength(rows.length);
  expect(total).toBeGreaterThan(leastCases);

  const head = ['Part', 'Fault', 'Times', 'Responses', 'Statuses'];
  const table = markdownTable(
    head,
    results.map((row) => row.map(String)),
  );
  if (FULL) writeSection(path.join(import.meta.dirname, 'README.md'), 'documents', table);
});
