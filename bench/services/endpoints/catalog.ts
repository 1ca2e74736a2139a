import type { Endpoint, ServiceRequest } from '../endpoint.ts';
import { walk } from './walk.ts';

const V1 = '/api/v1/catalog';
const V2 = '/api/v2/catalog';

function get(path: string, headers: Readonly<Record<string, string>> = {}): ServiceRequest {
  return { method: 'GET', path, headers };
}

/** Of many items one after the other, in an order without a pattern. */
const ITEM_PATHS = Array.from({ length: 200 }, (_, index) => `${V2}/${((index * 77) % 1_000) + 1}`);

const WORDS = ['kettle', 'lamp', 'garden', 'steel', 'wooden table', 'café', 'tea', 'light'];

export const CATALOG_ENDPOINTS: readonly Endpoint[] = [
  {
    name: 'GET v1',
    status: 200,
    requests: () =>
      Array.from({ length: 60 }, (_, index) => get(`${V1}?page=${((index * 7) % 60) + 1}`)),
    refuses: [[get(`${V1}?limit=101`), 400]],
  },
  {
    name: 'GET v2',
    status: 200,
    requests: (ask) => walk(ask, `${V2}?limit=20`, 60),
    refuses: [
      [get(`${V2}?cursor=mine`), 400],
      [get(`${V2}?colour=red`), 400],
      [get(V2, { accept: 'text/css' }), 406],
    ],
  },
  {
    name: 'GET v2?sort=-price',
    status: 200,
    requests: (ask) => walk(ask, `${V2}?limit=20&sort=-price`, 60),
  },
  {
    name: 'GET v2?q',
    status: 200,
    requests: () => WORDS.map((word) => get(`${V2}?q=${encodeURIComponent(word)}`)),
  },
  {
    name: 'GET v2/facets',
    status: 200,
    requests: () => [get(`${V2}/facets`)],
  },
  {
    name: 'GET v2/facets?q',
    status: 200,
    requests: () => WORDS.map((word) => get(`${V2}/facets?q=${encodeURIComponent(word)}`)),
  },
  {
    name: 'GET v2/figures',
    status: 200,
    requests: () => [get(`${V2}/figures`)],
  },
  {
    name: 'GET v2/:id',
    status: 200,
    requests: () => ITEM_PATHS.map((path) => get(path)),
    refuses: [
      [get(`${V2}/999999999`), 404],
      [get(`${V2}/seven`), 400],
    ],
  },
  {
    name: 'GET v2/:id, 304',
    status: 304,
    async requests(ask) {
      const { headers } = await ask(get(ITEM_PATHS[0] ?? ''));
      const etag = headers.get('etag') ?? '';
      return ITEM_PATHS.map((path) => get(path, { 'if-none-match': etag }));
    },
  },
];
