import { expect, test } from 'vitest';

import { buildServices } from '../../deploy/local/processes/launch.ts';
import { issueToken } from '../../deploy/local/token.ts';
import { createClient } from './faults/probes.ts';
import {
  createTable,
  describeResult,
  type Result,
  type Row,
  rowsOf,
  runRow,
} from './faults/rows.ts';
import { type FaultySystemOptions, startFaultySystem } from './faults/system.ts';
import { FULL, writeResultsOf } from './results.ts';

/** Rows that are measured one after the other in a system of their own. */
interface Lane extends FaultySystemOptions {
  readonly name: string;
  readonly rows: readonly Row[];
}

/** The full form measures every row; its systems run concurrently. */
const ALL: readonly Lane[] = [
  { name: 'PostgreSQL', database: 'PostgreSQL', rows: rowsOf('PostgreSQL') },
  { name: 'Valkey', database: 'SQLite', rows: rowsOf('Valkey') },
  { name: 'users', database: 'SQLite', rows: rowsOf('users') },
  { name: 'catalog', database: 'SQLite', rows: rowsOf('catalog') },
  {
    name: 'SQLite and the clock',
    database: 'SQLite',
    hasClock: true,
    rows: [...rowsOf('SQLite'), ...rowsOf('clock')],
  },
];

const FEW: readonly Lane[] = [
  {
    name: 'five parts',
    database: 'PostgreSQL',
    rows: [
      ...rowsOf('PostgreSQL').filter(({ fault }) => ['killed', 'disk full'].includes(fault)),
      ...rowsOf('Valkey').filter(({ fault }) => fault === 'hung'),
      ...rowsOf('users').filter(({ fault }) => fault === 'killed'),
      ...rowsOf('catalog').filter(({ fault }) => fault === 'refusing connections'),
    ],
  },
];

const lanes = FULL ? ALL : FEW;
const total = lanes.flatMap(({ rows }) => rows).length;
const results = new Map<Row, Result>();
const built = buildServices();

// A machine that runs all tests concurrently may exceed the time limits.
const retry = FULL ? 0 : 2;

test.concurrent.each(lanes)(
  '$name: every fault has the promised consequences',
  { retry },
  async (lane) => {
    await built;
    const system = await startFaultySystem(lane);
    try {
      const client = createClient(system);
      await client.warmUp();
      for (const row of lane.rows) {
        if (row.fault === 'disk full' && !system.disk.canFill) {
          console.log(
            `Skipped ${row.expected.part} ${row.fault}: only root on Linux can mount a disk`,
          );
          continue;
        }
        const seconds = FULL ? (row.expected.seconds ?? 10) : 5;
        const result = await runRow(row, { system, client, seconds });
        results.set(row, result);
        console.log(`${results.size} of ${total}: ${describeResult(result)}`);
      }

      expect(lane.rows.flatMap((row) => results.get(row)?.broken ?? [])).toEqual([]);
      expect(await client.countLost(), 'acknowledged users that cannot be read').toBe(0);
    } finally {
      await system.stop();
    }
  },
);

test.concurrent('tokens expire by the clock, and limits end by the time that has passed', {
  retry,
}, async () => {
  await built;
  const system = await startFaultySystem({ database: 'SQLite', hasClock: true });
  try {
    const token = issueToken({ secret: system.secret, user: 'ada', tier: 'free', hours: 0.5 });
    const list = (authorization: string) =>
      fetch(`${system.origin}/api/v1/reports`, { headers: { authorization } });
    const blocked = issueToken({ secret: system.secret, user: 'grace', tier: 'free', hours: 9 });
    while ((await list(`Bearer ${blocked}`)).status === 200);

    const seen: Record<string, unknown> = {};
    for (const hours of [-1, 0, 1]) {
      system.setClock(hours * 3_600);
      const { status, headers } = await list(`Bearer ${blocked}`);
      const waits = Number(headers.get('retry-after'));
      seen[hours] = [(await list(`Bearer ${token}`)).status, status, waits > 0 && waits <= 60];
    }

    expect(seen).toEqual({ '-1': [200, 429, true], 0: [200, 429, true], 1: [401, 429, true] });
  } finally {
    await system.stop();
  }
});

writeResultsOf(lanes.length + 1, 'faults', () => {
  if (results.size < total) return undefined;
  return createTable(lanes.flatMap(({ rows }) => rows.flatMap((row) => results.get(row) ?? [])));
});
