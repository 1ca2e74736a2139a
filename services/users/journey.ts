import { check } from 'k6';

import { newName, type Response, send } from '../../deploy/k6/lib/client.ts';

/** Creates, reads, changes and deletes a user in version 2, with conflicts; then the same in version 1. */
export function journey(): void {
  const email = `load-${newName()}@example.org`;
  const user = { name: 'Load', email };
  const once = { 'idempotency-key': newName() };
  const created = send('POST /api/v2/users', { body: user, headers: once, expect: [201] });
  if (!created) return;
  const id = idOf(created);
  const etag = created.headers.Etag ?? '';

  const again = send('POST /api/v2/users', { body: user, headers: once, expect: [201] });
  if (again)
    check(again, {
      'a repeated idempotency key creates no second user': (response) => idOf(response) === id,
    });
  send('POST /api/v2/users', { body: user, expect: [409] });
  send('GET /api/v2/users/:id', { id, headers: { 'if-none-match': etag }, expect: [304] });
  const state = { 'if-match': etag };
  send('PATCH /api/v2/users/:id', { id, body: { name: 'Loaded' }, headers: state });
  send('PATCH /api/v2/users/:id', { id, body: { name: 'Lost' }, headers: state, expect: [412] });
  const found = send('GET /api/v2/users', { query: `email=${encodeURIComponent(email)}` });
  if (found) {
    check(found, {
      'a changed user is found by e-mail': (response) => response.json('data.0.name') === 'Loaded',
    });
  }
  send('GET /api/v1/users/:id', { id });
  send('DELETE /api/v2/users/:id', { id });
  send('GET /api/v2/users/:id', { id, expect: [404] });

  usersV1();
}

function usersV1(): void {
  const body = { name: 'Load', email: 'load@example.org' };
  const created = send('POST /api/v1/users', { body, expect: [201] });
  if (!created) return;
  const id = idOf(created);
  send('GET /api/v1/users', { query: 'page=1&limit=10' });
  send('PUT /api/v1/users/:id', { id, body: { name: 'Loaded' } });
  const read = send('GET /api/v1/users/:id', { id });
  if (read) {
    check(read, {
      'a change in version 1 is visible': (response) => response.json('data.name') === 'Loaded',
    });
  }
  send('DELETE /api/v1/users/:id', { id, expect: [204] });
}

function idOf(response: Response): string {
  return String(response.json('data.id'));
}
