import assert from 'node:assert/strict';

import { test } from 'vitest';

import { readJson, readNothing, readProblem } from '../requests.ts';
import { readTarget } from '../target.ts';

const REPORTS = '/api/v1/reports';

const { api, newToken } = readTarget();

test('GET /reports with a bearer token returns { reports: array }', async () => {
  const response = await getReports(newToken());

  const body = await readJson(response);
  assert.deepEqual(Object.keys(body), ['reports']);
  assert.ok(Array.isArray(body.reports), 'reports is an array');
});

test('each response reports what remains of 100 requests per minute', async () => {
  const token = newToken();

  const first = await getReports(token);
  const second = await getReports(token);

  assert.equal(first.headers.get('ratelimit-limit'), '100');
  assert.ok(remaining(first) <= 99, `${remaining(first)} remain`);
  assert.equal(remaining(second), remaining(first) - 1);
  const reset = Number(first.headers.get('ratelimit-reset'));
  assert.ok(reset > 0 && reset <= 60, `the window ends in ${reset} s`);
});

for (const [title, headers] of [
  ['no Authorization', {}],
  ['another scheme', { authorization: 'Basic YWRhOmFkYQ==' }],
  ['an invalid token', { authorization: 'Bearer nobody' }],
  ['no token', { authorization: 'Bearer ' }],
] as const) {
  test(`GET /reports with ${title} returns 401, before the limit of users`, async () => {
    const response = await api.get(REPORTS, headers);

    assert.match(response.headers.get('www-authenticate') ?? '', /^Bearer\b/);
    // Invalid tokens have a separate limit per client address.
    assert.notEqual(response.headers.get('ratelimit-limit'), '100');
    await readProblem(response, 401, 'UNAUTHORIZED');
  });
}

test('HEAD /reports requires the token', async () => {
  const authorization = `Bearer ${newToken()}`;

  await readNothing(await api.send('HEAD', REPORTS), 401);
  await readNothing(await api.send('HEAD', REPORTS, undefined, { authorization }), 200);
});

test('a user gets 100 responses per minute, then 429; another user is not limited', async () => {
  const token = newToken();
  let accepted = 0;
  let response = await getReports(token);
  for (; response.status === 200 && accepted <= 100; accepted += 1) {
    response = await getReports(token);
  }

  const problem = await readProblem(response, 429, 'RATE_LIMITED');
  assert.ok(accepted <= 100, `${accepted} requests were accepted`);
  assert.match(problem.type, /quota-exceeded/);
  assert.equal(remaining(response), 0);
  const seconds = Number(response.headers.get('retry-after'));
  assert.ok(seconds >= 1 && seconds <= 60, `Retry-After is ${seconds} s`);
  await readJson(await getReports(newToken()));
});

function getReports(token: string): Promise<Response> {
  return api.get(REPORTS, { authorization: `Bearer ${token}` });
}

function remaining(response: Response): number {
  return Number(response.headers.get('ratelimit-remaining') ?? Number.NaN);
}
