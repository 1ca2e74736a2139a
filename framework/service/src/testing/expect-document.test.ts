import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { openapi } from '@fw/openapi';
import { createApp, createRouter, endpoint } from 'fw';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';

import { expectDocument } from './expect-document.ts';
import { newFolder } from './vitest.ts';

const Old = z.object({ name: z.string() }).meta({ id: 'Old' });
const New = z.object({ name: z.string(), email: z.string() }).meta({ id: 'New' });

/** An application with a route for each path, and a file for a document. */
function newDocument(schemas: Readonly<Record<string, z.ZodType>>) {
  const router = createRouter();
  for (const [path, schema] of Object.entries(schemas)) {
    router.get(path, endpoint({ responses: { 200: z.object({ data: schema }) } }), (ctx) =>
      ctx.json({ data: schema.parse({ name: 'Ada', email: 'ada@example.com' }) }),
    );
  }
  const app = createApp().use(openapi({ router })).route('/', router);
  return { app, file: join(newFolder(), 'openapi/v1.json') };
}

async function writeDocument({ app, file }: ReturnType<typeof newDocument>) {
  vi.stubEnv('UPDATE', '1');
  await expectDocument(app, { version: 'v1', file });
  vi.stubEnv('UPDATE', '');
}

test('a document contains one version, and the components that it uses', async () => {
  const document = newDocument({ '/api/v2/users': New, '/api/v1/users': Old });

  await writeDocument(document);

  const written = JSON.parse(readFileSync(document.file, 'utf8'));
  expect(written.info.version).toBe('1.0.0');
  expect(Object.keys(written.paths)).toEqual(['/api/v1/users']);
  expect(Object.keys(written.components.schemas)).toEqual(['Old', 'Problem']);
});

test('a stale file and a missing one name the command that writes them', async () => {
  const { app, file } = newDocument({ '/api/v1/users': Old });
  await writeDocument({ app, file });
  const { app: changed } = newDocument({ '/api/v1/users': New });

  await expectDocument(app, { version: 'v1', file });
  await expect(expectDocument(changed, { version: 'v1', file })).rejects.toThrow(
    `${file} is stale: run make documents`,
  );
  await expect(expectDocument(app, { version: 'v1', file: `${file}.old` })).rejects.toThrow(
    `Cannot read ${file}.old: run make documents`,
  );
});

test('a path without a version is in no document, so it is an error', async () => {
  const { app, file } = newDocument({ '/api/v1/users': Old, '/users': Old });

  await expect(expectDocument(app, { version: 'v1', file })).rejects.toThrow(
    'Cannot select a version of /users: expected a path such as /api/v1/…',
  );
});
