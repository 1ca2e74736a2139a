import { afterAll, beforeAll, expect, test } from 'vitest';

import { type Example, startExample } from './testing.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample('versioning');
});
afterAll(() => example.stop());

test.each([
  ['/api/v1/users/7', { id: '7', name: 'Ada Lovelace' }],
  ['/api/v2/users/7', { data: { id: '7', givenName: 'Ada', familyName: 'Lovelace' } }],
  ['/api/v1/books', ['Notes by the Translator']],
  ['/api/v2/books', { data: [{ title: 'Notes by the Translator' }] }],
])('GET %s sends the shape of its version', async (path, body) => {
  const response = await fetch(`${example.origin}${path}`);

  expect(response.status).toBe(200);
  expect(await response.json()).toEqual(body);
});

test.each(['/api/v3/users/7', '/api/v1', '/users/7', '/v1/books', '/api/books'])(
  'GET %s is 404: the version is part of the path',
  async (path) => {
    const response = await fetch(`${example.origin}${path}`);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: 'NOT_FOUND' });
  },
);

test.each(['/api/v1/users/7', '/api/v2/users/7', '/api/v1/books', '/api/v2/books'])(
  'POST %s is 405 with Allow, mounted or grouped',
  async (path) => {
    const response = await fetch(`${example.origin}${path}`, { method: 'POST' });

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('GET, HEAD');
  },
);
