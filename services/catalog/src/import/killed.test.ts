import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

import { generateRows, toNdjsonLine } from '../generate-items.ts';
import { openSqliteCatalogStore } from '../store/sqlite.ts';
import { openSqliteImport } from '../store/sqlite-import.ts';
import { importText, itemOf, newDirectory, toLines } from '../testing.ts';

const PROGRAM = fileURLToPath(new URL('../testing/killed-import.ts', import.meta.url));

/** A store with one item, and a file with 2,000 to be imported into it. */
async function prepare() {
  const directory = newDirectory();
  const database = join(directory, 'catalog.db');
  const openImport = async () => openSqliteImport(database);
  const openStore = () => openSqliteCatalogStore(database);
  await importText({ openImport, openStore }, toLines([itemOf(1)]));
  const store = openStore();
  onTestFinished(() => store.close());
  const file = join(directory, 'items.ndjson');
  writeFileSync(file, [...generateRows(2_000)].map(toNdjsonLine).join(''));
  return { database, store, file };
}

/** Reads as clients do, until `end` settles; resolves with the totals that it saw. */
async function watch(
  store: ReturnType<typeof openSqliteCatalogStore>,
  end: Promise<unknown>,
): Promise<ReadonlySet<number>> {
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

test('an import that is killed at every few steps goes on, and is never half visible', async () => {
  const { database, store, file } = await prepare();
  let runs = 0;

  for (let isOver = false; !isOver && runs < 20; runs++) {
    const child = spawn(process.execPath, [PROGRAM, file, database, '9'], { stdio: 'inherit' });
    const totals = await watch(store, once(child, 'exit'));
    isOver = totals.has(2_000);
    expect([1, 2_000]).toEqual(expect.arrayContaining([...totals]));
  }

  expect(runs).toBeGreaterThan(2);
  expect((await store.list({ start: 1_999, limit: 2 })).items).toHaveLength(1);
  expect((await store.facets({})).value.counted).toBe(2_000);
});

test('an import that is killed at any moment goes on, and loses nothing', async () => {
  const { database, store, file } = await prepare();

  for (let attempt = 0; attempt < 4; attempt++) {
    const child = spawn(process.execPath, [PROGRAM, file, database], { stdio: 'inherit' });
    const ended = once(child, 'exit');
    await sleep(100 + Math.random() * 300);
    child.kill('SIGKILL');
    await ended;
    expect([1, 2_000]).toContain((await store.list({ start: 0, limit: 1 })).total);
  }
  const child = spawn(process.execPath, [PROGRAM, file, database], { stdio: 'inherit' });
  expect(await once(child, 'exit')).toEqual([0, null]);

  expect((await store.list({ start: 0, limit: 1 })).total).toBe(2_000);
  const words = { words: ['lot'] };
  expect((await store.facets(words)).value.counted).toBe(2_000);
});
