import { send } from './lib/client.ts';
import { PROFILES } from './lib/profiles.ts';
import { creation, report } from './lib/requests.ts';

export const options = PROFILES.versions(__ENV);

/** The operations of `COMPARED_KINDS` in version 1. */
export function v1(): void {
  const created = send('POST /api/v1/users', creation());
  if (created) {
    const id = String(created.json('data.id'));
    send('GET /api/v1/users/:id', { id });
    send('PUT /api/v1/users/:id', { id, body: { name: 'Loaded' } });
    send('DELETE /api/v1/users/:id', { id, expect: [204] });
  }
  send('GET /api/v1/users', { query: 'page=1&limit=10' });
  send('GET /api/v1/catalog', { query: 'page=1&limit=10' });
  send('GET /api/v1/reports', report());
}

/** The same operations in version 2. */
export function v2(): void {
  const created = send('POST /api/v2/users', creation());
  if (created) {
    const id = String(created.json('data.id'));
    send('GET /api/v2/users/:id', { id });
    send('PATCH /api/v2/users/:id', { id, body: { name: 'Loaded' } });
    send('DELETE /api/v2/users/:id', { id });
  }
  send('GET /api/v2/users', { query: 'limit=10' });
  send('GET /api/v2/catalog', { query: 'limit=10' });
  send('GET /api/v2/reports', report());
}
