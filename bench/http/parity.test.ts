import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';

import { listenOnFreePort } from './contestant.ts';
import { checkParity } from './parity.ts';
import { exchangesOf } from './workloads.ts';

async function serve(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
  return listenOnFreePort(server);
}

test('checkParity accepts the expected status, media type and body, and 404 for other paths', async () => {
  const port = await serve((req, res) => {
    res.statusCode = req.url === '/' ? 200 : 404;
    res.setHeader('content-type', 'application/json; charset=utf-8');
    res.end('{ "hello": "world" }');
  });

  await expect(checkParity(port, 'hello')).resolves.toBeUndefined();
});

test('checkParity rejects a contestant that accepts an invalid body', async () => {
  const port = await serve((req, res) => {
    const [known] = exchangesOf('validated').filter(({ path }) => path === req.url);
    res.writeHead(known?.status ?? 404, { 'content-type': 'application/json' });
    res.end(JSON.stringify(known?.expected ?? {}));
  });

  await expect(checkParity(port, 'validated')).rejects.toThrow('status 201 instead of 400');
});

test('checkParity rejects a contestant that accepts a request without a token', async () => {
  const port = await serve((req, res) => {
    res.writeHead(req.url === '/' ? 200 : 404, { 'content-type': 'application/json' });
    res.end('{"hello":"world"}');
  });

  await expect(checkParity(port, 'bearer-token')).rejects.toThrow('status 200 instead of 401');
});

test('checkParity rejects a contestant without an expected header', async () => {
  const port = await serve((_req, res) => {
    res.writeHead(200, { 'content-type': 'application/json' });
    res.end('{"hello":"world"}');
  });

  await expect(checkParity(port, 'etag')).rejects.toThrow('GET /: no header etag');
});

test.each([
  ['another status', 201, 'application/json', '{"hello":"world"}', 'status 201 instead of 200'],
  ['another media type', 200, 'text/plain', '{"hello":"world"}', 'text/plain instead of'],
  ['another body', 200, 'application/json', '{"hello":"you"}', '{"hello":"you"} instead of'],
  ['200 for any path', 200, 'application/json', '{"hello":"world"}', 'status 200 instead of 404'],
])('checkParity rejects %s', async (_case, status, type, body, message) => {
  const port = await serve((_req, res) => {
    res.writeHead(status, { 'content-type': type });
    res.end(body);
  });

  await expect(checkParity(port, 'hello')).rejects.toThrow(message);
});
