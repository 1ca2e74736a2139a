import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { newApp, tokenOf } from './testing.ts';

const send = (headers = {}) => request(newApp(), '/api/v1/reports', { headers });

test.each(['Bearer ', 'bearer ', 'BEARER   '])(
  'GET with a token after %j returns the reports',
  async (scheme) => {
    const response = await send({ Authorization: scheme + tokenOf('ada') });

    expect(response.status).toBe(200);
    const report = {
      id: expect.stringMatching(/^[a-z-]+$/),
      title: expect.stringMatching(/./),
      description: expect.stringMatching(/\.$/),
    };
    expect(await response.json()).toEqual({ reports: [report, report, report, report, report] });
  },
);

test('GET without a token responds with 401 and a WWW-Authenticate challenge', async () => {
  const response = await send();

  expect(response.status).toBe(401);
  expect(response.headers.get('www-authenticate')).toBe('Bearer');
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({
    status: 401,
    code: 'UNAUTHORIZED',
    detail: 'a bearer token is required',
  });
});
