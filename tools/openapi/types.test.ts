import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { expect, test } from 'vitest';

import { typesOf } from './types-of.ts';

const root = path.resolve(import.meta.dirname, '../..');
const documents = fs.globSync('services/*/openapi/v*.json', { cwd: root });

test('every service has documents', () => {
  expect(documents.length).toBeGreaterThan(0);
});

test.each(documents)('the types of %s are current', async (document) => {
  const file = path.join(root, document.replace(/\.json$/, '.d.ts'));
  const source = pathToFileURL(path.join(root, document));
  const types = `// Written by "make documents" from ${path.basename(document)}.\n${await typesOf(source)}`;

  if (process.env.UPDATE) fs.writeFileSync(file, types);
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  assert.equal(text, types, `${file} is stale: run make documents`);
});
