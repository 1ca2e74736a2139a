import fs from 'node:fs';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { findBreakingChanges } from './find-breaking-changes.ts';

type Part = Record<string, unknown>;
type Edit = readonly [operation: string, path: string, value?: unknown];

interface Row {
  readonly title: string;
  readonly before?: readonly Edit[];
  readonly edits: readonly Edit[];
  /** The line that oasdiff prints; without it, oasdiff accepts the edit. */
  readonly finding?: string;
}

/** The rows of `planted-edits.yaml` by the document that they edit, such as `users/v2`. */
type Table = Readonly<Record<string, readonly Row[]>>;

const file = path.join(import.meta.dirname, 'planted-edits.yaml');
const { breaking, harmless }: Readonly<Record<'breaking' | 'harmless', Table>> = parse(
  fs.readFileSync(file, 'utf8'),
);

describe.each(Object.entries({ breaking, harmless }))('%s edits', (_, documents) => {
  describe.each(Object.entries(documents))('%s', (document, rows) => {
    test.each(rows)('$title', (row) => {
      const findings = findingsAbout(document, row);

      expect(findings).toEqual(row.finding ? expect.arrayContaining([row.finding]) : []);
    });
  });
});

/** The lines about the edits of a document in git. */
function findingsAbout(name: string, { before = [], edits }: Row): string[] {
  const file = `../../services/${name.replace('/', '/openapi/')}.json`;
  const old = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, file), 'utf8'));
  for (const one of before) edit(old, one);
  const edited = structuredClone(old);
  for (const one of edits) edit(edited, one);
  expect(JSON.stringify(edited), 'the edit changes nothing').not.toBe(JSON.stringify(old));
  const folder = newFolder('fw-planted-edits-');
  fs.writeFileSync(path.join(folder, 'old.json'), JSON.stringify(old));
  fs.writeFileSync(path.join(folder, 'edited.json'), JSON.stringify(edited));
  return findBreakingChanges('old.json', 'edited.json', folder).flatMap(({ operation, changes }) =>
    changes.map((change) => `${operation}: ${change}`),
  );
}

function edit(document: Part, [operation, where, value]: Edit): void {
  const [parent, key] = locate(document, where.split(' '));
  const mustExist = operation !== 'set' && operation !== 'add';
  if (mustExist && !(key in parent)) throw new RangeError(`Cannot find "${where}"`);
  const current = parent[key];
  if (operation === 'set') parent[key] = value;
  if (operation === 'add') parent[key] = [...((current as unknown[]) ?? []), value];
  if (operation === 'inline') parent[key] = resolve(document, current);
  if (operation === 'reverse') parent[key] = reverse(current as object);
  if (operation === 'copy' || operation === 'rename') parent[String(value)] = current;
  if (operation === 'remove' && Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (operation === 'remove' || operation === 'rename') delete parent[key];
}

/** The parent of the value at `keys`, and its key there. */
function locate(document: Part, keys: readonly string[]): [Part, string] {
  const [key = ''] = keys.slice(-1);
  const parent = keys.slice(0, -1).reduce((part, one) => {
    const next = resolve(document, part[keyIn(part, one)]);
    if (typeof next !== 'object') throw new RangeError(`Cannot find "${one}" in ${keys.join(' ')}`);
    return next as Part;
  }, document);
  return [parent, keyIn(parent, key)];
}

function keyIn(parent: Part, key: string): string {
  if (!Array.isArray(parent)) return key;
  const index = parent.findIndex((item) => item === key || item?.name === key);
  return index === -1 ? key : String(index);
}

function resolve(document: Part, value: unknown): unknown {
  const { $ref } = Object(value);
  if (typeof $ref !== 'string') return value;
  const [parent, key] = locate(document, $ref.split('/').slice(1));
  return parent[key];
}

function reverse(value: object): object {
  return Array.isArray(value)
    ? value.toReversed()
    : Object.fromEntries(Object.entries(value).reverse());
}
