import { once } from 'node:events';
import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { ServiceUnavailableError } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { newFolder } from '../testing/vitest.ts';
import { inTransaction, openDatabase } from './sqlite.ts';

const NOTES = {
  applicationId: 0x6e6f7465,
  migrations: ['CREATE TABLE notes (text TEXT NOT NULL) STRICT'],
};

test('openDatabase creates the file, its directory and its tables', () => {
  const file = join(newFolder(), 'new', 'notes.db');

  const database = openDatabase(file, NOTES);
  database.exec("INSERT INTO notes VALUES ('kept')");
  database.close();

  const again = openDatabase(file, NOTES);
  expect(again.prepare('SELECT text FROM notes').all()).toMatchObject([{ text: 'kept' }]);
  again.close();
});

test('openDatabase synchronises a write-ahead log at every commit', () => {
  const database = openDatabase(join(newFolder(), 'notes.db'), NOTES);
  onTestFinished(() => database.close());

  expect(database.prepare('PRAGMA journal_mode').get()).toMatchObject({ journal_mode: 'wal' });
  expect(database.prepare('PRAGMA synchronous').get()).toMatchObject({ synchronous: 2 });
  expect(database.prepare('PRAGMA busy_timeout').get()).toMatchObject({ timeout: 5000 });
  expect(database.prepare('PRAGMA wal_autocheckpoint').get()).toMatchObject({
    wal_autocheckpoint: 4000,
  });
});

test.each([
  ['a few bytes of garbage', 'garbage'],
  ['pages of garbage', 'garbage '.repeat(2_000)],
  ['a header followed by garbage', `SQLite format 3\0${'garbage '.repeat(2_000)}`],
])('openDatabase rejects a file of %s, names it and does not change it', (_, content) => {
  const directory = newFolder();
  const file = join(directory, 'notes.db');
  writeFileSync(file, content);

  expect(() => openDatabase(file, NOTES)).toThrow(
    new Error(`Cannot open database "${file}": file is not a database`),
  );
  expect(readFileSync(file, 'latin1')).toBe(content);
  expect(readdirSync(directory)).toEqual(['notes.db']);
});

test('openDatabase rejects a truncated file and does not change it', () => {
  const file = join(newFolder(), 'notes.db');
  openDatabase(file, NOTES).close();
  truncateSync(file, 4_096);
  const content = readFileSync(file);

  expect(() => openDatabase(file, NOTES)).toThrow('database disk image is malformed');
  expect(readFileSync(file)).toEqual(content);
});

test("openDatabase rejects another program's database and does not change it", () => {
  const file = join(newFolder(), 'other.db');
  const other = new DatabaseSync(file);
  other.exec('CREATE TABLE other (x)');
  other.close();
  const content = readFileSync(file);

  expect(() => openDatabase(file, NOTES)).toThrow('it belongs to another program');
  expect(readFileSync(file)).toEqual(content);
});

test('openDatabase names a path that is not a file', () => {
  const directory = newFolder();

  expect(() => openDatabase(directory, NOTES)).toThrow(
    `Cannot open database "${directory}": unable to open database file`,
  );
});

/** Creates a file that another process has locked, with the tables of `format` if it is set. */
function newLockedFile(format?: typeof NOTES): string {
  const file = join(newFolder(), 'notes.db');
  if (format) openDatabase(file, format).close();
  const other = new DatabaseSync(file);
  onTestFinished(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  return file;
}

test('openDatabase opens a file of the current version while another process has locked it', () => {
  const file = newLockedFile(NOTES);

  const database = openDatabase(file, NOTES, { timeoutMs: 0 });
  onTestFinished(() => database.close());

  expect(database.prepare('SELECT text FROM notes').all()).toEqual([]);
});

test.each([
  ['new', undefined],
  ['older', { ...NOTES, migrations: [] }],
])('openDatabase of a locked %s file is a ServiceUnavailableError after timeoutMs', (_, format) => {
  const file = newLockedFile(format);

  const startedMs = performance.now();
  const open = () => openDatabase(file, NOTES, { timeoutMs: 50 });

  expect(open).toThrow(ServiceUnavailableError);
  expect(open).toThrow(`Cannot open database "${file}": database is locked`);
  // Without timeoutMs, each attempt waits 5 s.
  expect(performance.now() - startedMs).toBeLessThan(4_000);
});

test('several processes can open one new file concurrently', async () => {
  const directory = newFolder();
  const [count, rounds] = [4, 100];
  const program = `
    import { workerData } from 'node:worker_threads';
    import { openDatabase } from ${JSON.stringify(new URL('./sqlite.ts', import.meta.url).href)};
    const arrived = new Int32Array(workerData);
    for (let round = 1; round <= ${rounds}; round++) {
      Atomics.add(arrived, 0, 1);
      while (Atomics.load(arrived, 0) < ${count} * round) Atomics.wait(arrived, 1, 0, 1);
      const database = openDatabase(${JSON.stringify(directory)} + '/' + round, ${JSON.stringify(NOTES)});
      database.exec("INSERT INTO notes VALUES ('here')");
      database.close();
    }
  `;
  const url = new URL(`data:text/javascript,${encodeURIComponent(program)}`);
  const workerData = new SharedArrayBuffer(8);
  const workers = Array.from({ length: count }, () => new Worker(url, { workerData }));
  onTestFinished(async () => {
    await Promise.all(workers.map((worker) => worker.terminate()));
  });

  await Promise.all(workers.map((worker) => once(worker, 'exit')));

  const database = openDatabase(join(directory, String(rounds)), NOTES);
  onTestFinished(() => database.close());
  expect(database.prepare('SELECT * FROM notes').all()).toHaveLength(count);
});

test('without tracing, statements are those of node:sqlite', () => {
  const database = openDatabase(':memory:', NOTES);
  onTestFinished(() => database.close());

  expect(database.prepare).toBe(DatabaseSync.prototype.prepare);
  expect(database.exec).toBe(DatabaseSync.prototype.exec);
});

test('inTransaction rolls back work that throws', () => {
  const database = openDatabase(':memory:', NOTES);
  onTestFinished(() => database.close());

  const work = () =>
    inTransaction(database, () => {
      database.exec("INSERT INTO notes VALUES ('half')");
      throw new Error('the other half');
    });

  expect(work).toThrow('the other half');
  expect(database.prepare('SELECT * FROM notes').all()).toEqual([]);
});
