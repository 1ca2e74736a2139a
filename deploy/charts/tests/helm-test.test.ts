import { spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { beforeAll, expect, test } from 'vitest';

import { freePort } from '../../local/testing/ports.ts';
import { charts, only, type Rendered } from './render.ts';

let catalog: Rendered[];
beforeAll(() => {
  catalog = charts.render('catalog');
});

/** Runs the program of the chart catalog's test pod, with the service at `base`. */
async function runProgram(base: string): Promise<{ code: number | null; output: string }> {
  const [, ...args] = only(catalog, 'Pod').spec.containers[0].command;
  const child = spawn(process.execPath, args, { env: { BASE: base } });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output };
}

/** A catalog with one item and without version 1, which closes each connection after one request. */
function createCatalog(): http.Server {
  const item = {
    ...{ id: 1, name: 'Kettle', category: 'Kitchen', brand: 'Brisk', priceCents: 4990 },
    ...{ currency: 'EUR', description: '', tags: [] },
  };
  return http.createServer(({ url = '' }, response) => {
    const status = url.startsWith('/api/v1/') ? 410 : url.includes('nonsense') ? 400 : 200;
    response.writeHead(status, { connection: 'close' });
    response.end(JSON.stringify({ data: url.endsWith('/1') ? item : [item] }));
  });
}

test('helm test retries until the network of every node is ready', async () => {
  const port = await freePort();
  const running = runProgram(`http://127.0.0.1:${port}`);
  const requests: (string | undefined)[] = [];
  for (let time = 1; time <= 4; time++) {
    await sleep(300);
    const server = createCatalog().listen(port, '127.0.0.1');
    const [request] = await once(server, 'request');
    requests.push(request.url);
    server.close();
  }

  const { code, output } = await running;

  expect({ code, output }).toMatchObject({ code: 0 });
  expect(requests).toEqual([
    '/api/v1/catalog?limit=1',
    '/api/v2/catalog?limit=1',
    '/api/v2/catalog/1',
    '/api/v2/catalog?limit=nonsense',
  ]);
});

test('helm test fails on a wrong response', async () => {
  const port = await freePort();
  const server = http.createServer((_, response) => response.writeHead(503).end('away'));
  server.listen(port, '127.0.0.1');

  const { code, output } = await runProgram(`http://127.0.0.1:${port}`);
  server.close();

  expect(code).toBe(1);
  expect(output).toContain('/api/v2/catalog?limit=1: away');
});
