import { readFileSync } from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { expectSection, markdownTable } from '../../deploy/local/testing/markdown.ts';
import { observe } from './behaviour.ts';
import type { Connection } from './connection.ts';
import { PROGRAMS } from './programs.ts';
import { sizeOf } from './size.ts';
import { type TypeCheck, typeCheck } from './type-check.ts';

const root = path.resolve(import.meta.dirname, '../..');
const docs = path.join(root, 'docs/clients.md');

/** The clients by their names in the tables, which `PROGRAMS` has too. */
const CLIENTS = {
  '@fw/client': { connection: 'fw', pack: 'framework/client' },
  'openapi-fetch': { connection: 'openapi-fetch', pack: 'node_modules/openapi-fetch' },
  hono: { connection: 'hono', pack: 'node_modules/hono' },
  Eden: { connection: 'eden', pack: 'node_modules/@elysiajs/eden' },
  tRPC: { connection: 'trpc', pack: 'node_modules/@trpc/client' },
  oRPC: { connection: 'orpc', pack: 'node_modules/@orpc/client' },
  'ts-rest': { connection: 'ts-rest', pack: 'node_modules/@ts-rest/core' },
};
const NAMES = Object.keys(CLIENTS);
const OPERATIONS = 2_000;

/** The files that a client needs to know an API, by what they contain. */
const SOURCES = {
  'paths.d.ts': 'OpenAPI document',
  'server.ts': 'code of the server',
  'contract.ts': 'TypeScript contract',
};

async function measure([name, { connection, pack }]: [string, (typeof CLIENTS)['hono']]) {
  const { connect } = (await import(`./connections/${connection}.ts`)) as {
    connect: (baseUrl: string) => Connection;
  };
  const { version } = JSON.parse(readFileSync(path.join(root, pack, 'package.json'), 'utf8'));
  const files = Object.keys((await PROGRAMS[name]?.(1)) ?? {});
  const source = Object.entries(SOURCES).find(([file]) => files.includes(file))?.[1] ?? '';
  return { version, source, size: await sizeOf(connection), ...(await observe(connect)) };
}

type Measured = Awaited<ReturnType<typeof measure>>;

const yesOrNo = (value: boolean) => (value ? 'yes' : 'no');

const POINTS: readonly [string, (client: Measured) => string][] = [
  ['version', ({ version }) => version],
  ['1. types come from', ({ source }) => source],
  ['2. works from an OpenAPI document', ({ source }) => yesOrNo(source === 'OpenAPI document')],
  ['3. request that reads note 7', ({ request }) => `\`${decodeURIComponent(request)}\``],
  ['4. a 404; no connection', ({ failures }) => failures],
  ['5. repeats a read after 503', ({ retries }) => yesOrNo(retries)],
  ['6. `Idempotency-Key` on creation', ({ idempotencyKey }) => yesOrNo(idempotencyKey)],
  ['7. second read is conditional (ETag)', ({ conditional }) => yesOrNo(conditional)],
  ['8. sends a request id', ({ requestId }) => yesOrNo(requestId)],
  ['9. sends files', ({ upload }) => yesOrNo(upload)],
  ['10. size, minified and gzipped', ({ size }) => `${(size / 1_000).toFixed(1)} kB`],
];

test('docs/clients.md compares what the clients do without further options', async () => {
  const measured: Measured[] = [];
  for (const client of Object.entries(CLIENTS)) measured.push(await measure(client));

  const rows = POINTS.map(([title, read]) => [title, ...measured.map(read)]);
  expectSection(docs, 'behaviour', markdownTable(['', ...NAMES], rows));
});

test(`the types of ${OPERATIONS} operations are checked with few instantiations`, async () => {
  const { error, instantiations } = await check('@fw/client', OPERATIONS);
  const small = await check('@fw/client', 10);

  expect(error).toBeUndefined();
  expect(small.error).toBeUndefined();
  expect(instantiations - small.instantiations).toBeLessThan(20 * OPERATIONS);
});

test.runIf(process.env.FULL)('docs/clients.md compares type checks', { timeout: 0 }, async () => {
  const rows: string[][] = [];
  for (const name of NAMES) {
    const { error, instantiations } = await check(name, OPERATIONS);
    const count = `${Math.round(instantiations / 1_000).toLocaleString('en')}`;
    rows.push([name, count, error === undefined ? 'yes' : 'no']);
  }

  const head = ['', 'thousand instantiations', 'compiles'];
  expectSection(docs, 'type-check', markdownTable(head, rows));
});

async function check(name: string, count: number): Promise<TypeCheck> {
  return typeCheck((await PROGRAMS[name]?.(count)) ?? {});
}
