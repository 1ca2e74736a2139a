import { check } from 'k6';

import { send } from '../../deploy/k6/lib/client.ts';

/** Lists, searches and reads items of the catalog. */
export function journey(): void {
  const listed = send('GET /api/v2/catalog', { query: 'limit=20&sort=-price' });
  send('GET /api/v2/catalog', { query: 'q=table&limit=10' });
  send('GET /api/v2/catalog/facets');
  send('GET /api/v1/catalog', { query: 'page=2&limit=20' });
  send('GET /api/v1/catalog', { query: 'page=0', expect: [400] });
  send('GET /api/v2/catalog/:id', { id: 999_999_999, expect: [404] });

  if (!listed) return;
  const id = Number(listed.json('data.0.id'));
  if (!check(id, { 'the catalog has items': (found) => found > 0 })) return;
  const item = send('GET /api/v2/catalog/:id', { id });
  const etag = item?.headers.Etag ?? '';
  send('GET /api/v2/catalog/:id', { id, headers: { 'if-none-match': etag }, expect: [304] });
}
