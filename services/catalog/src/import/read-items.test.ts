import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

import { itemOf, toLines } from '../testing.ts';
import { readItems } from './read-items.ts';
import { createSource, openSource } from './source.ts';

/** Reads a file that arrives in chunks of this size. */
async function readAll(content: string | Buffer, { chunkBytes = 65_536 } = {}) {
  const bytes = Buffer.from(content);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    chunks.push(bytes.subarray(at, at + chunkBytes));
  }
  const batches = await Array.fromAsync(readItems(createSource(Readable.from(chunks)).chunks));
  return {
    ids: batches.flatMap(({ items }) => items.map(({ item }) => item.id)),
    items: batches.flatMap(({ items }) => items),
    rejections: batches.flatMap(({ rejections }) => rejections),
  };
}

const TWO = toLines([itemOf(1), itemOf(2)]);

test.each([
  ['lines of JSON', TWO],
  ['no line break at the end', TWO.trimEnd()],
  ['CR LF', TWO.replaceAll('\n', '\r\n')],
  ['a byte order mark', `\ufeff${TWO}`],
  ['blank lines', `\n${TWO.replace('\n', '\n\n')}\n`],
  ['gzip', gzipSync(TWO)],
  ['gzip in two parts', Buffer.concat([gzipSync(TWO.slice(0, 50)), gzipSync(TWO.slice(50))])],
])('a file with %s is read from chunks of any size', async (_, content) => {
  for (const chunkBytes of [1, 7, 65_536]) {
    const { ids, rejections } = await readAll(content, { chunkBytes });

    expect(ids).toEqual([1, 2]);
    expect(rejections).toEqual([]);
  }
});

test('the fields of a line are the fields of its item', async () => {
  const { items } = await readAll(toLines([itemOf(7)]));

  expect(items).toEqual([{ line: 1, item: itemOf(7) }]);
});

function json(changes: object): string {
  return JSON.stringify({ ...JSON.parse(toLines([itemOf(1)])), ...changes });
}

test.each([
  ['a list', '[]', 'expected a JSON object'],
  ['half an object', '{"id":', 'expected a JSON object'],
  ['the id 0', json({ id: 0 }), 'id must be an integer of at least 1'],
  ['an id past 2^53', json({ id: 2 ** 53 }), 'id must be an integer of at least 1'],
  ['no name', json({ name: '' }), 'name must be a text of at most 200 characters'],
  ['a long name', json({ name: 'x'.repeat(201) }), 'name must be a text of at most 200 characters'],
  ['a NUL', json({ name: 'a\0' }), 'name must be a text of at most 200 characters'],
  ['half a character', json({ name: '\ud800' }), 'name must be a text of at most 200 characters'],
  ['a fraction', json({ price_cents: 1.5 }), 'price_cents must be an integer of at least 0'],
  ['no currency', json({ currency: 'euro' }), 'currency must be three capital letters'],
  ['a tag for tags', json({ tags: 'tea' }), 'tags must be a list of at most 50 texts'],
  ['a number for a tag', json({ tags: [1] }), 'tags must be a list of at most 50 texts'],
  ['too many bytes', '日'.repeat(1024 ** 2 / 3 + 1), 'it is longer than 1048576 bytes'],
])('a line with %s is rejected with its number', async (_, line, reason) => {
  const { ids, rejections } = await readAll(`${toLines([itemOf(1)])}${line}\n${TWO}`);

  expect(rejections).toEqual([{ line: 2, reason }]);
  expect(ids).toEqual([1, 1, 2]);
});

test('a line that is not UTF-8 is rejected, the lines around it are read', async () => {
  const bad = Buffer.from(toLines([itemOf(2, { name: 'Caf?' })]));
  bad[bad.indexOf('?')] = 0xe9;
  const content = Buffer.concat([Buffer.from(TWO), bad, Buffer.from(TWO)]);

  const { ids, rejections } = await readAll(content);

  expect(rejections).toEqual([{ line: 3, reason: 'it is not UTF-8' }]);
  expect(ids).toEqual([1, 2, 1, 2]);
});

test('a line of many megabytes is rejected, the lines around it are read', async () => {
  const huge = Buffer.alloc(40 * 1024 ** 2, 'x');
  const content = Buffer.concat([Buffer.from(TWO), huge, Buffer.from(`\n${TWO}`)]);

  const { ids, rejections } = await readAll(content);

  expect(rejections).toEqual([{ line: 3, reason: 'it is longer than 1048576 bytes' }]);
  expect(ids).toEqual([1, 2, 1, 2]);
});

test('content without a line break fails after 64 MiB, naming the line and its first byte', async () => {
  function* endless() {
    yield Buffer.from(TWO);
    for (;;) yield Buffer.alloc(1024 ** 2, 'x');
  }
  const { chunks } = createSource(Readable.from(endless()));

  await expect(Array.fromAsync(readItems(chunks))).rejects.toThrow(
    `line 3, which begins at byte ${TWO.length}, has no line break within 67108864 bytes`,
  );
});

test.each([
  ['a CSV file', 'id,name\n1,x\n', 'expected NDJSON'],
  ['gzip that is cut short', gzipSync(TWO).subarray(0, 40), 'unexpected end of file'],
])('%s is an error', async (_, content, reason) => {
  await expect(readAll(content)).rejects.toThrow(reason);
});

test('a directory and a missing file are errors', () => {
  const { signal } = new AbortController();
  expect(() => openSource(fileURLToPath(new URL('.', import.meta.url)), signal)).toThrow(
    'it is a directory',
  );
  expect(() => openSource('/nowhere/items.ndjson', signal)).toThrow('ENOENT');
});
