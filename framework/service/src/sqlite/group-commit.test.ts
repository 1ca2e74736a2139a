import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

import { ServiceUnavailableError } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { newFolder } from '../testing/vitest.ts';
import { createGroupCommit, openDatabase } from './sqlite.ts';

const NOTES = {
  applicationId: 0x6e6f7465,
  migrations: ['CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT'],
};

function newFile(): string {
  return join(newFolder(), 'notes.db');
}

function open(file = ':memory:') {
  const database = openDatabase(file, NOTES);
  onTestFinished(() => database.close());
  return { database, add: (text: string) => add(database, text) };
}

function add(database: DatabaseSync, text: string): void {
  database.prepare('INSERT INTO notes VALUES (?)').run(text);
}

function notes(database: DatabaseSync): unknown[] {
  return database
    .prepare('SELECT text FROM notes ORDER BY text')
    .all()
    .map((row) => row.text);
}

test('write resolves with the result of its work once another connection can read it', async () => {
  const file = newFile();
  const { database, add } = open(file);
  const other = open(file);
  const { write } = createGroupCommit(database);

  const result = await write(() => {
    add('kept');
    return 42;
  });

  expect(result).toBe(42);
  expect(notes(other.database)).toEqual(['kept']);
});

test('the writes of one turn of the event loop share one transaction', async () => {
  const file = newFile();
  const { database, add } = open(file);
  const other = open(file);
  const { write } = createGroupCommit(database);
  const seen: number[] = [];

  await Promise.all(
    ['a', 'b', 'c'].map((text) =>
      write(() => {
        add(text);
        seen.push(notes(other.database).length);
      }).then(() => seen.push(notes(other.database).length)),
    ),
  );

  expect(seen).toEqual([0, 0, 0, 3, 3, 3]);
});

test('work that throws is rolled back alone', async () => {
  const { database, add } = open();
  const { write } = createGroupCommit(database);

  const results = await Promise.allSettled([
    write(() => add('a')),
    write(() => add('a')),
    write(() => {
      add('half');
      throw new Error('the other half');
    }),
    write(() => add('b')),
  ]);

  expect(results.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'rejected',
    'fulfilled',
  ]);
  expect(notes(database)).toEqual(['a', 'b']);
});

test('write waits for another process without blocking the event loop', async () => {
  const file = newFile();
  const { database, add } = open(file);
  const other = open(file);
  const { write } = createGroupCommit(database, { timeoutMs: 60_000 });
  other.database.exec('BEGIN IMMEDIATE');
  let isWritten = false;

  const written = write(() => add('mine')).then(() => {
    isWritten = true;
  });
  for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setTimeout(resolve, 1));
  const wasWritten = isWritten;
  other.add('theirs');
  other.database.exec('COMMIT');
  await written;

  expect(wasWritten).toBe(false);
  expect(notes(database)).toEqual(['mine', 'theirs']);
});

test('write is rejected after its time limit while another process writes, and succeeds afterwards', async () => {
  const file = newFile();
  const { database, add } = open(file);
  const other = open(file);
  const { write } = createGroupCommit(database, { timeoutMs: 50 });
  other.database.exec('BEGIN IMMEDIATE');

  const rejected = await write(() => add('rejected')).catch((error: unknown) => error);
  other.database.exec('COMMIT');
  await write(() => add('kept'));

  expect(rejected).toBeInstanceOf(ServiceUnavailableError);
  expect(rejected).toMatchObject({ headers: { 'Retry-After': '1' } });
  expect(notes(database)).toEqual(['kept']);
});

test('writes to a full disk are rejected and rolled back; they succeed once there is space', async () => {
  const { database, add } = open(newFile());
  const { write } = createGroupCommit(database);
  const long = 'x'.repeat(100_000);
  database.exec('PRAGMA max_page_count = 20');

  const results = await Promise.allSettled([
    write(() => add('small')),
    write(() => add(long)),
    write(() => add(`${long}y`)),
  ]);
  const kept = notes(database);
  database.exec('PRAGMA max_page_count = 1000');
  await write(() => add('later'));

  for (const [at, result] of results.entries()) {
    if (result.status === 'fulfilled') expect([at, kept]).toEqual([0, ['small']]);
    else expect(result.reason).toBeInstanceOf(ServiceUnavailableError);
  }
  expect(results[1]?.status).toBe('rejected');
  expect(kept.length).toBe(results.filter(({ status }) => status === 'fulfilled').length);
  expect(notes(database)).toEqual([...kept, 'later'].sort());
});

test('writes to a database that is closed are rejected', async () => {
  const database = openDatabase(':memory:', NOTES);
  const { write } = createGroupCommit(database);
  database.close();

  await expect(write(() => add(database, 'late'))).rejects.toThrow();
});

test('every waiting write fails if no transaction can begin', async () => {
  const database = openDatabase(':memory:', NOTES);
  const { write } = createGroupCommit(database);
  const writes = Array.from({ length: 501 }, () => write(() => {}));

  database.close();

  const outcomes = await Promise.allSettled(writes);
  expect(new Set(outcomes.map(({ status }) => status))).toEqual(new Set(['rejected']));
});
