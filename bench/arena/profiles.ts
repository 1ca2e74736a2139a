import type { Request, Sequence } from '../http/messages.ts';
import { createRandom, FILES } from './files.ts';

const sum: Request = { path: '/baseline11?a=13&b=42' };
const text = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '20' } as const;
const baseline = [sum, { ...sum, ...text }, { ...sum, ...text, isChunked: true }];

const targets = ['1?m=3', '5?m=7', '10?m=2', '15?m=5', '25?m=4', '40?m=8', '50?m=6'];
const json = targets.map((target) => ({ path: `/json/${target}` }));

const database = [5, 10, 20, 35, 50].map((limit) => {
  return { path: `/async-db?min=10&max=50&limit=${limit}` };
});

/** Reads, updates, lists and creations, 15 : 3 : 1 : 1. Few enough ids that the cache has some of them. */
function crud(): readonly Request[] {
  const random = createRandom();
  const headers = { 'Content-Type': 'application/json' };
  return Array.from({ length: 2_000 }, (_, index) => {
    const kind = (index * 7) % 20;
    const id = 1 + Math.floor(random() * 1_000);
    if (kind < 15) return { path: `/crud/items/${id}` };
    if (kind === 15) {
      return { path: `/crud/items?category=office&page=${1 + (id % 10)}&limit=10` };
    }
    const fields = { name: `Item ${index}`, price: 1 + (id % 100), quantity: id % 30 };
    if (kind > 16) {
      const body = JSON.stringify(fields);
      return { method: 'PUT', path: `/crud/items/${id}`, headers, body };
    }
    const body = JSON.stringify({ id: 200_000 + index, category: 'test', ...fields });
    return { method: 'POST', path: '/crud/items', headers, body };
  });
}

/** The profiles of HttpArena with HTTP/1.1. */
export const PROFILES: Readonly<Record<string, Sequence>> = {
  baseline: { requests: baseline },
  pipelined: { requests: [{ path: '/pipeline' }], pipelining: 16 },
  'limited-conn': { requests: baseline, closeEvery: 10 },
  json: { requests: json },
  'json-comp': {
    requests: json.slice(4).map((request) => {
      return { ...request, headers: { 'Accept-Encoding': 'gzip, br' } };
    }),
  },
  'json-tls': { requests: json },
  upload: {
    requests: [500, 2 * 1024, 10 * 1024, 20 * 1024].map((kib) => ({
      method: 'POST',
      path: '/upload',
      headers: { 'Content-Type': 'application/octet-stream' },
      body: Buffer.alloc(kib * 1024, 'upload'),
    })),
  },
  static: {
    requests: FILES.map(({ name }) => ({
      path: `/static/${name}`,
      headers: { 'Accept-Encoding': 'br;q=1, gzip;q=0.8' },
    })),
    closeEvery: 200,
  },
  'async-db': { requests: database },
  'api-4': {
    requests: [sum, json[1], database[2], sum, json[3], sum, json[5], database[4]].filter(
      (request) => request !== undefined,
    ),
    closeEvery: 5,
  },
  crud: { requests: crud(), closeEvery: 200 },
};
