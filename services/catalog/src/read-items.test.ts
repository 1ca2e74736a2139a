import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

import { readItems } from './read-items.ts';

const SHIPPED = fileURLToPath(new URL('../data/items.ndjson', import.meta.url));

function fileOf(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'items-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'items.ndjson');
  writeFileSync(file, content);
  return file;
}

function line(changes: object = {}): string {
  return JSON.stringify({
    id: 1,
    name: 'Kettle',
    category: 'Kitchen',
    brand: 'Brisk',
    price_cents: 4990,
    currency: 'EUR',
    description: 'Boils water.',
    tags: ['tea'],
    ...changes,
  });
}

test('the catalog ships 1,200 items, ids 1 to 1200, no name twice', () => {
  const { items } = readItems(SHIPPED);

  expect(items.map(({ id }) => id)).toEqual(Array.from({ length: 1_200 }, (_, at) => at + 1));
  expect(new Set(items.map(({ name }) => name)).size).toBe(1_200);
});

test('readItems reads one item a line', () => {
  const { items } = readItems(fileOf(`${line()}\n${line({ id: 2, tags: [] })}\n`));

  expect(items).toEqual([
    {
      id: 1,
      name: 'Kettle',
      category: 'Kitchen',
      brand: 'Brisk',
      priceCents: 4990,
      currency: 'EUR',
      description: 'Boils water.',
      tags: ['tea'],
    },
    expect.objectContaining({ id: 2, tags: [] }),
  ]);
});

test('readItems gives each content a version of its own', () => {
  const [one, same, other] = [line(), line(), line({ price_cents: 1 })].map(
    (content) => readItems(fileOf(content)).version,
  );

  expect(same).toBe(one);
  expect(other).not.toBe(one);
});

test.each([
  ['', 'line 1: expected a JSON object'],
  [`${line()}\n{"id":`, 'line 2: expected a JSON object'],
  ['7', 'line 1: expected a JSON object'],
  [line({ id: 0 }), 'line 1: id must be an integer of at least 1'],
  [line({ id: '7' }), 'line 1: id must be an integer of at least 1'],
  [line({ name: '' }), 'line 1: name must be a text'],
  [line({ price_cents: 1.5 }), 'line 1: price_cents must be an integer of at least 0'],
  [line({ tags: 'tea' }), 'line 1: tags must be a list of texts'],
  [line({ tags: [1] }), 'line 1: tags must be a list of texts'],
  [`${line()}\n${line()}`, 'an id stands twice'],
])('readItems refuses %.40j: %s', (content, reason) => {
  const file = fileOf(content);

  expect(() => readItems(file)).toThrow(new Error(`Cannot read items from "${file}": ${reason}`));
});

test('readItems names a file that is not there', () => {
  expect(() => readItems('/nowhere/items.ndjson')).toThrow(
    'Cannot read items from "/nowhere/items.ndjson": ENOENT: no such file or directory',
  );
});
