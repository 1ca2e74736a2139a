import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { listen } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { listenOnFreePort } from '../http/contestant.ts';
import type { Settings } from './contestant.ts';
import { askOf, type Endpoint } from './endpoint.ts';
import { CATALOG_ENDPOINTS } from './endpoints/catalog.ts';
import { REPORTS_ENDPOINTS } from './endpoints/reports.ts';
import { USERS_ENDPOINTS } from './endpoints/users.ts';
import { expectSame, look } from './parity.ts';
import { createPeer } from './peers/peer.ts';
import { subject as catalog } from './servers/catalog.ts';
import { answerFigures } from './servers/figures.ts';
import { subject as reports } from './servers/reports.ts';
import type { Subject } from './servers/serve.ts';
import { subject as users } from './servers/users.ts';

const SILENT = { info() {}, warn() {}, error() {} };

const HERE = { port: 0, host: '127.0.0.1' };

async function serve(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return listenOnFreePort(server);
}

/** What the two are started with: an empty store in a directory of its own. */
async function settings(): Promise<Settings> {
  const directory = mkdtempSync(join(tmpdir(), 'parity-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return {
    store: { file: join(directory, 'data.db') },
    itemsFile: fileURLToPath(new URL('../../services/catalog/data/items.ndjson', import.meta.url)),
    figuresUrl: `http://127.0.0.1:${await serve(answerFigures)}`,
  };
}

async function startFw<Store>({ openStore, createApp }: Subject<Store>): Promise<number> {
  const server = await listen(
    createApp(await openStore(await settings()), { logger: SILENT }),
    HERE,
  );
  onTestFinished(() => server.close());
  return server.port;
}

async function startPeer<Store>({ openStore, peer }: Subject<Store>): Promise<number> {
  const app = createPeer(false);
  onTestFinished(() => app.close());
  await peer(app, await openStore(await settings()));
  // fastify adds options of its own to the object.
  return Number(new URL(await app.listen({ ...HERE })).port);
}

async function expectParity<Store>(subject: Subject<Store>, endpoints: readonly Endpoint[]) {
  const fw = askOf(await startFw(subject));
  const peer = askOf(await startPeer(subject));
  for (const [at, endpoint] of endpoints.entries()) {
    const first = 1_000 * (at + 1);
    expectSame(await look(peer, endpoint, first), await look(fw, endpoint, first));
  }
}

test('users answers as the same service on fastify does', async () => {
  await expectParity(users, USERS_ENDPOINTS);
});

test('catalog answers as the same service on fastify does', async () => {
  await expectParity(catalog, CATALOG_ENDPOINTS);
});

test('reports answers as the same service on fastify does', async () => {
  await expectParity(reports, REPORTS_ENDPOINTS);
});

const HELLO: Endpoint = {
  name: 'GET hello',
  status: 200,
  requests: () => [{ method: 'GET', path: '/hello' }],
  refuses: [[{ method: 'GET', path: '/nothing' }, 404]],
};

function helloServer(body: string, type = 'application/json'): RequestListener {
  return (req, res) => {
    res.writeHead(req.url === '/hello' ? 200 : 404, { 'content-type': type });
    res.end(body);
  };
}

test('a contestant may have ids and times of its own, and nothing else', async () => {
  const one = await look(askOf(await serve(helloServer('{"id":"1","name":"Ada"}'))), HELLO, 1);
  const same = await look(askOf(await serve(helloServer('{"id":"2","name":"Ada"}'))), HELLO, 1);
  const other = await look(askOf(await serve(helloServer('{"id":"1","name":"Eve"}'))), HELLO, 1);

  expect(() => expectSame(same, one)).not.toThrow();
  expect(() => expectSame(other, one)).toThrow(/answers GET \/hello with .*Eve.* instead of .*Ada/);
});

test('a contestant that refuses nothing is found out', async () => {
  const ask = askOf(await serve((_req, res) => res.end('{}')));

  await expect(look(ask, HELLO, 1)).rejects.toThrow('answers GET /nothing with status 200');
});
