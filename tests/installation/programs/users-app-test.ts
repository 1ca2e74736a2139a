import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { createUsersApp } from './users-app.ts';

test('a user is created in process', async () => {
  const app = createUsersApp();

  const response = await request(app, '/users', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
  });

  expect(response.status).toBe(201);
  expect(await response.json()).toMatchObject({ data: { name: 'Ada' } });
});
