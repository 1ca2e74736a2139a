import assert from 'node:assert/strict';

import { readJson, readNothing, readProblem } from '@fw/service/testing';
import { test } from 'vitest';

import { readTarget } from './target.ts';

const USERS = '/api/v2/users';

const { api } = readTarget();

function newEmail(): string {
  return `edge-${crypto.randomUUID()}@example.org`;
}

test('edge: / is an HTML page', async () => {
  const page = await api.get('/');

  assert.match(page.headers.get('content-security-policy') ?? '', /^default-src 'none'/);
  assert.match(await page.text(), /<h1>/);
  const etag = page.headers.get('etag') ?? '';
  await readNothing(await api.get('/', { 'if-none-match': etag }), 304);
});

test('edge: a chunked request body is accepted', async () => {
  const parts = ['{"name":"Grace",', `"email":"${newEmail()}"}`];
  const body = ReadableStream.from(parts.map((part) => new TextEncoder().encode(part)));
  const headers = { ...api.credentials(USERS), 'content-type': 'application/json' };

  const init: RequestInit = { method: 'POST', headers, body, duplex: 'half' };
  const { data } = await readJson(await fetch(api.origin + USERS, init), 201);

  await api.send('DELETE', `${USERS}/${data.id}`);
});

test('edge: a body may wait for 100 Continue', async () => {
  const user = { name: 'Edsger', email: newEmail() };

  const { continued, status, text } = await api.postAfterContinue(USERS, JSON.stringify(user));

  assert.ok(continued, '100 Continue arrived before the body was sent');
  assert.equal(status, 201, text);
  await api.send('DELETE', `${USERS}/${JSON.parse(text).data.id}`);
});

test('edge: a body over 1 MiB returns 413', async () => {
  const user = { name: 'x'.repeat(1024 ** 2), email: 'x@example.org' };

  await readProblem(await api.send('POST', USERS, user), 413, 'PAYLOAD_TOO_LARGE');
});

test('edge: an unknown prefix returns a problem response', async () => {
  for (const url of ['/nowhere', '/api/v1/usersx', '/api/v3/users', '/docs']) {
    await readProblem(await api.get(url), 404, 'NOT_FOUND');
  }
});

test('edge: a request id is kept, and a malformed one is replaced', async () => {
  const url = `${USERS}/nobody`;

  const kept = await api.get(url, { 'x-request-id': 'smoke-1' });
  const replaced = await api.get(url, { 'x-request-id': 'not {plain}' });

  assert.equal((await readProblem(kept, 404, 'NOT_FOUND')).requestId, 'smoke-1');
  const { requestId } = await readProblem(replaced, 404, 'NOT_FOUND');
  assert.match(requestId, /^[0-9a-f]{32}$/);
});
