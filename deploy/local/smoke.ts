import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { turnEdge } from './edge.ts';
import type { ProcessRecord } from './process.ts';
import { isReady, stopProcess } from './process.ts';
import { folders, readRunning } from './state.ts';
import { replicasOf, upstreamsOf } from './system.ts';
import { readOrCreateToken } from './token.ts';

const run = promisify(execFile);

const running = readRunning(folders.run);
const edge = running.find(({ name }) => name === 'edge');
if (!edge) {
  console.error('Nothing is running: start it with "make up"');
  process.exit(1);
}
const origin = edge.address.replace('localhost', '127.0.0.1');
const bearer = { authorization: `Bearer ${readOrCreateToken(folders.run)}` };

const checks: readonly (readonly [title: string, check: () => Promise<void>])[] = [
  ['every process is ready', everyProcessIsReady],
  ['users creates, reads, changes and deletes', usersRoundTrip],
  ['users names the id it does not know', usersUnknownId],
  ['users takes a chunked body', usersChunkedBody],
  ['users takes a body after 100 (Continue)', usersExpectContinue],
  ['catalog answers the first page', catalogFirstPage],
  ['catalog refuses a limit of 0', catalogBadLimit],
  ['catalog answers HEAD without a body', catalogHead],
  ['catalog answers DELETE with 405 and Allow', catalogMethod],
  ['reports answers a bearer of its token', reportsWithToken],
  ['reports refuses a request without a token', reportsWithoutToken],
  ['edge refuses a body over 1 MiB', edgeLargeBody],
  ['edge answers an unknown prefix with a problem', edgeUnknownPrefix],
  ['edge passes a request id on, and replaces a malformed one', edgeRequestId],
  ['the lines of the README answer', readmeLines],
  ['a replica that is replaced under traffic loses no request', replicaReplaced],
];

let failed = 0;
for (const [title, check] of checks) {
  try {
    await check();
    console.log(`ok   ${title}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL ${title}\n     ${error instanceof Error ? error.message : String(error)}`);
  }
}
console.log(`${checks.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

async function everyProcessIsReady(): Promise<void> {
  for (const record of running) assert.ok(await isReady(record), `${record.name} is not ready`);
  assert.equal(running.length, 6);
}

async function usersRoundTrip(): Promise<void> {
  const created = await createUser({ name: 'Ada', email: 'ada@example.org' });
  const url = `/api/v1/users/${created.id}`;

  assert.deepEqual(await readJson(await get(url)), { data: created });
  const list = await readJson(await get('/api/v1/users'));
  assert.ok(
    list.data.some((user: { id: string }) => user.id === created.id),
    'list has the user',
  );
  const changed = await send('PUT', url, JSON.stringify({ name: 'Ada Lovelace' }));
  assert.equal((await readJson(changed)).data.name, 'Ada Lovelace');
  const deleted = await send('DELETE', url);
  assert.equal(deleted.status, 204);
  assert.equal((await get(url)).status, 404);
}

async function usersUnknownId(): Promise<void> {
  const problem = await readProblem(await get('/api/v1/users/nobody'), 404, 'NOT_FOUND');
  assert.match(String(problem.detail), /nobody/);
}

async function usersChunkedBody(): Promise<void> {
  const body = ReadableStream.from(
    ['{"name":"Grace",', '"email":"grace@example.org"}'].map((part) =>
      new TextEncoder().encode(part),
    ),
  );
  const response = await fetch(`${origin}/api/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
    duplex: 'half',
  });
  assert.equal(response.status, 201);
  await deleteUser((await readJson(response)).data.id);
}

async function usersExpectContinue(): Promise<void> {
  const body = JSON.stringify({ name: 'Edsger', email: 'edsger@example.org' });
  const { continued, status, text } = await postAfterContinue(`${origin}/api/v1/users`, body);
  assert.ok(continued, '100 came before the body was sent');
  assert.equal(status, 201);
  await deleteUser(JSON.parse(text).data.id);
}

async function catalogFirstPage(): Promise<void> {
  const page = await readJson(await get('/api/v1/catalog'));
  assert.equal(page.items.length, 20);
  assert.equal(page.page, 1);
  assert.ok(page.total >= 1_000, `total is ${page.total}`);
  assert.equal(page.totalPages, Math.ceil(page.total / 20));
  assert.equal(page.hasNextPage, true);
}

async function catalogBadLimit(): Promise<void> {
  const problem = await readProblem(await get('/api/v1/catalog?limit=0'), 400, 'BAD_REQUEST');
  assert.equal(problem.detail, 'limit must be between 1 and 100');
}

async function catalogHead(): Promise<void> {
  const response = await send('HEAD', '/api/v1/catalog');
  assert.equal(response.status, 200);
  assert.ok(Number(response.headers.get('content-length')) > 0, 'Content-Length is there');
  assert.equal(await response.text(), '');
}

async function catalogMethod(): Promise<void> {
  const response = await send('DELETE', '/api/v1/catalog');
  assert.equal(response.headers.get('allow'), 'GET, HEAD');
  await readProblem(response, 405, 'METHOD_NOT_ALLOWED');
}

async function reportsWithToken(): Promise<void> {
  const body = await readJson(await get('/api/v1/reports', bearer));
  assert.ok(Array.isArray(body.reports) && body.reports.length > 0, 'reports are there');
}

async function reportsWithoutToken(): Promise<void> {
  const response = await get('/api/v1/reports');
  assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer/);
  await readProblem(response, 401, 'UNAUTHORIZED');
}

async function edgeLargeBody(): Promise<void> {
  const body = JSON.stringify({ name: 'x'.repeat(1024 ** 2), email: 'x@example.org' });
  await readProblem(await send('POST', '/api/v1/users', body), 413, 'PAYLOAD_TOO_LARGE');
}

async function edgeUnknownPrefix(): Promise<void> {
  for (const url of ['/', '/api/v1/usersx', '/api/v3/users', '//api/v1/users']) {
    await readProblem(await get(url), 404, 'NOT_FOUND');
  }
}

async function edgeRequestId(): Promise<void> {
  const kept = await get('/api/v1/users/nobody', { 'x-request-id': 'smoke-1' });
  assert.equal((await readProblem(kept, 404, 'NOT_FOUND')).requestId, 'smoke-1');
  const replaced = await get('/api/v1/users/nobody', { 'x-request-id': 'not {plain}' });
  assert.match(String((await readProblem(replaced, 404, 'NOT_FOUND')).requestId), /^[0-9a-f]{32}$/);
}

/** Each line that the README shows to type, as a reader types it, on this system's port. */
async function readmeLines(): Promise<void> {
  const readme = fs.readFileSync(path.join(folders.root, 'README.md'), 'utf8');
  const lines = readme.split('\n').filter((line) => line.startsWith('curl '));
  assert.ok(lines.length > 0, 'the README shows lines to type');
  for (const line of lines) {
    const command = line
      .replace('curl', 'curl --fail --silent --show-error')
      .replaceAll('http://localhost:8080', origin);
    const { stdout } = await run('bash', ['-c', command], { cwd: folders.root });
    const { data } = JSON.parse(stdout);
    if (line.includes('POST')) await deleteUser(data.id);
  }
}

async function replicaReplaced(): Promise<void> {
  const replica = running.find(({ name }) => name === 'users-1');
  const edge = running.find(({ name }) => name === 'edge');
  assert.ok(replica && edge, 'users-1 and the edge run');
  const prefix = path.join(folders.run, 'nginx');
  const upstreams = upstreamsOf(replicasOf(Number(new URL(origin).port)));
  const traffic = startTraffic();
  try {
    await sleep(300);
    await turnEdge(edge, { prefix, upstreams, away: Number(new URL(replica.address).port) });
    assert.ok(await stopProcess(replica), 'users-1 ended by itself within 10 s');
    await startAgain(replica);
    await sleep(300);
  } finally {
    const { answered, lost, created } = await traffic.stop();
    for (const id of created) await deleteUser(id);
    assert.deepEqual(lost, [], `${lost.length} of ${answered + lost.length} requests were lost`);
    assert.ok(answered > 20, `only ${answered} requests were answered`);
  }
}

/** `make up` brings back what is missing. */
async function startAgain({ name }: ProcessRecord): Promise<void> {
  const up = path.join(import.meta.dirname, 'up.ts');
  await run(process.execPath, [up, '--port', new URL(origin).port]);
  const again = readRunning(folders.run).find((record) => record.name === name);
  assert.ok(again && (await isReady(again)), `${name} is back`);
}

/** Reads and creates users over and over, on several connections at a time. */
function startTraffic() {
  const created: string[] = [];
  const lost: string[] = [];
  let answered = 0;
  let stopping = false;

  async function repeat(request: () => Promise<Response>, expected: number): Promise<void> {
    while (!stopping) {
      try {
        const response = await request();
        const text = await response.text();
        if (response.status !== expected) throw new Error(`answered ${response.status}: ${text}`);
        if (expected === 201) created.push(JSON.parse(text).data.id);
        answered += 1;
      } catch (error) {
        lost.push(error instanceof Error ? error.message : String(error));
      }
    }
  }

  // Each on a connection of its own: nginx closes idle ones whenever its configuration changes.
  const alone = { connection: 'close' };
  const user = JSON.stringify({ name: 'Smoke', email: 'smoke@example.org' });
  const workers = [
    ...Array.from({ length: 4 }, () =>
      repeat(() => get('/api/v1/users?page=1&limit=1', alone), 200),
    ),
    ...Array.from({ length: 2 }, () =>
      repeat(() => send('POST', '/api/v1/users', user, alone), 201),
    ),
  ];
  return {
    async stop() {
      stopping = true;
      await Promise.all(workers);
      return { answered, lost, created };
    },
  };
}

async function createUser(input: { name: string; email: string }): Promise<{ id: string }> {
  const response = await send('POST', '/api/v1/users', JSON.stringify(input));
  assert.equal(response.status, 201);
  return (await readJson(response)).data;
}

async function deleteUser(id: string): Promise<void> {
  assert.equal((await send('DELETE', `/api/v1/users/${id}`)).status, 204);
}

function get(url: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(origin + url, { headers });
}

function send(
  method: string,
  url: string,
  body?: string,
  extra: Record<string, string> = {},
): Promise<Response> {
  const headers = { 'content-type': 'application/json', ...extra };
  return fetch(origin + url, body === undefined ? { method } : { method, headers, body });
}

async function readJson(response: Response) {
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/);
  return JSON.parse(await response.text());
}

async function readProblem(
  response: Response,
  status: number,
  code: string,
): Promise<Record<string, unknown>> {
  assert.equal(response.status, status);
  assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json/);
  const problem = JSON.parse(await response.text());
  assert.equal(problem.status, status);
  assert.equal(problem.code, code);
  assert.equal(typeof problem.requestId, 'string');
  return problem;
}

/** Sends the headers, and the body only once the server has asked for it. */
function postAfterContinue(
  url: string,
  body: string,
): Promise<{ continued: boolean; status: number | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    let continued = false;
    const request = http.request(url, {
      method: 'POST',
      agent: false,
      headers: {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        expect: '100-continue',
      },
    });
    request.once('error', reject);
    request.once('continue', () => {
      continued = true;
      request.end(body);
    });
    request.once('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ continued, status: response.statusCode, text });
    });
    request.flushHeaders();
  });
}
