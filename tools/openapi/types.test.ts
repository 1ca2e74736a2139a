import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { createRouter } from '@fw/core';
import { sse } from '@fw/middleware/sse';
import { generateDocument } from '@fw/openapi';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { typesOf } from './types-of.ts';

const root = path.resolve(import.meta.dirname, '../..');
const documents = fs.globSync('services/*/openapi/v*.json', { cwd: root });

test('every service has documents', () => {
  expect(documents.length).toBeGreaterThan(0);
});

test.each(documents)('the types of %s are current', async (document) => {
  const file = path.join(root, document.replace(/\.json$/, '.d.ts'));
  const source = fs.readFileSync(path.join(root, document), 'utf8');
  const types = `// Written by "make documents" from ${path.basename(document)}.\n${await typesOf(source)}`;

  if (process.env.UPDATE) fs.writeFileSync(file, types);
  const text = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
  assert.equal(text, types, `${file} is stale: run make documents`);
});

test('the types of a stream have the name and the data of each event', async () => {
  const events = { tick: z.object({ count: z.int() }), done: z.string() };
  const router = createRouter().get(
    '/ticks',
    sse(events, async function* () {}),
  );

  const document = await generateDocument(router.getRoutes(), { openapi: '3.2' });

  const types = await typesOf(JSON.stringify(document));

  expect(types.replace(/\s+/g, ' ')).toContain(
    '"text/event-stream": { /** @constant */ event: "tick"; data: { count: number; }; id?: string; } | { /** @constant */ event: "done"; data: string; id?: string; };',
  );
});
