import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { generateRows, toNdjsonLine } from '../generate-items.ts';
import type { CatalogStore } from '../store.ts';
import { importText, itemOf, newSqliteDatabase, toLines } from '../testing.ts';

const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url));

/** Reads as clients do until `end` settles; resolves with every total that was read. */
async function watch(store: CatalogStore, end: Promise<unknown>): Promise<ReadonlySet<number>> {
  const totals = new Set<number>();
  let isOver = false;
  const watched = end.then(() => {
    isOver = true;
  });
  do {
    const { items, total } = await store.list({ start: 0, limit: 100 });
    expect(items).toHaveLength(Math.min(total, 100));
    totals.add(total);
    await sleep(2);
  } while (!isOver);
  await watched;
  totals.add((await store.list({ start: 0, limit: 1 })).total);
  return totals;
}

test('an import that is killed at any moment changes nothing, and the next one is complete', async () => {
  const directory = newFolder();
  const DATABASE_FILE = join(directory, 'catalog.db');
  const database = newSqliteDatabase(DATABASE_FILE);
  await importText(database, toLines([itemOf(1)]));
  const store = database.openStore();
  onTestFinished(() => store.close());
  const file = join(directory, 'items.ndjson');
  writeFileSync(file, [...generateRows(20_000)].map(toNdjsonLine).join(''));
  const start = () => {
    const env = { PATH: process.env.PATH, DATABASE_FILE };
    return spawn(process.execPath, [MAIN, 'import', file], { env, stdio: 'ignore' });
  };

  for (let attempt = 0; attempt < 6; attempt++) {
    const child = start();
    const ended = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), 200 + Math.random() * 1_000);
    const totals = await watch(store, ended);
    clearTimeout(timer);
    expect([1, 20_000]).toEqual(expect.arrayContaining([...totals]));
  }
  expect(await once(start(), 'exit')).toEqual([0, null]);

  expect((await store.list({ start: 0, limit: 1 })).total).toBe(20_000);
  expect((await store.facets({})).value.counted).toBe(20_000);
  const { items } = await store.list({ start: 19_999, limit: 2 });
  expect(items).toHaveLength(1);
});
