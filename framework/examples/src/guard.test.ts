import { afterAll, beforeAll, expect, test } from 'vitest';

import { type Example, startExample } from './testing.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample('guard');
});
afterAll(() => example.stop());

test.each(['/api/admin/stats', '/api/admin/users/7', '/API/%61dmin/STATS/'])(
  'the guard sends 401 with an error for %s without Authorization',
  async (path) => {
    const response = await fetch(`${example.origin}${path}`);

    expect(response.status).toBe(401);
    expect(await response.json()).toEqual({ error: 'Authorization header is required' });
  },
);

test.each([
  ['/api/admin/stats', { users: 2 }],
  ['/api/admin/users/7', { id: '7' }],
])('the guard lets %s pass with any Authorization', async (path, body) => {
  const headers = { Authorization: 'Bearer anything' };

  const response = await fetch(`${example.origin}${path}`, { headers });

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual(body);
});

test('a route outside the group requires no Authorization', async () => {
  const response = await fetch(`${example.origin}/api/health`);

  expect(await response.json()).toEqual({ status: 'ok' });
});
