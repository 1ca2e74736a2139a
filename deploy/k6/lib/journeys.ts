import { check } from 'k6';

import { type Answer, newName, send } from './client.ts';
import { authorization, hasTokens } from './token.ts';

/** A user of version 2 from creation to deletion, with what others would do to it in between. */
export function users(): void {
  const email = `load-${newName()}@example.org`;
  const user = { name: 'Load', email };
  const once = { 'idempotency-key': newName() };
  const created = send('POST /api/v2/users', { body: user, headers: once, expect: [201] });
  if (!created) return;
  const id = idOf(created);
  const etag = created.headers.Etag ?? '';

  const again = send('POST /api/v2/users', { body: user, headers: once, expect: [201] });
  if (again) check(again, { 'the same key creates nobody else': (answer) => idOf(answer) === id });
  send('POST /api/v2/users', { body: user, expect: [409] });
  send('GET /api/v2/users/:id', { id, headers: { 'if-none-match': etag }, expect: [304] });
  const state = { 'if-match': etag };
  send('PATCH /api/v2/users/:id', { id, body: { name: 'Loaded' }, headers: state });
  send('PATCH /api/v2/users/:id', { id, body: { name: 'Lost' }, headers: state, expect: [412] });
  const found = send('GET /api/v2/users', { query: `email=${encodeURIComponent(email)}` });
  if (found) {
    check(found, {
      'who was changed is found by e-mail': (answer) => answer.json('data.0.name') === 'Loaded',
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
      'a change of version 1 is read': (answer) => answer.json('data.name') === 'Loaded',
    });
  }
  send('DELETE /api/v1/users/:id', { id, expect: [204] });
}

/** Somebody who looks around in the catalog. */
export function catalog(): void {
  const listed = send('GET /api/v2/catalog', { query: 'limit=20&sort=-price' });
  send('GET /api/v2/catalog', { query: 'q=table&limit=10' });
  send('GET /api/v2/catalog/facets');
  send('GET /api/v1/catalog', { query: 'page=2&limit=20' });
  send('GET /api/v1/catalog', { query: 'page=0', expect: [400] });
  send('GET /api/v2/catalog/:id', { id: 999_999_999, expect: [404] });

  const id = Number(listed?.json('data.0.id'));
  if (!id) return;
  const item = send('GET /api/v2/catalog/:id', { id });
  const etag = item?.headers.Etag;
  if (!etag) return;
  send('GET /api/v2/catalog/:id', { id, headers: { 'if-none-match': etag }, expect: [304] });
}

/** Somebody with a token who reads reports, and tries it without. */
export function reports(): void {
  const headers = authorization(`load-${newName()}`, 'pro');
  // One user for all of them has asked for too much at some time.
  const expect = hasTokens ? [200] : [200, 429];
  const get = (accept: string) => ({
    id: 'overview',
    headers: { ...headers, accept },
    expect,
  });

  send('GET /api/v2/reports', { expect: [401] });
  send('GET /api/v1/reports', { headers, expect });
  send('GET /api/v2/reports', { headers, expect });
  send('GET /api/v2/reports/:id', get('text/csv'));
  const report = send('GET /api/v2/reports/:id', get('application/json'));
  if (report?.status === 200) {
    check(report, {
      'a report has the figures of both': (answer) => answer.json('meta.partial') === false,
    });
  }
}

function idOf(answer: Answer): string {
  return String(answer.json('data.id'));
}
