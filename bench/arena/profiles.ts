import { createRandom, FILES } from './files.ts';

export interface Request {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly isChunked?: boolean;
}

export interface Profile {
  /** Sent in turn. */
  readonly requests: readonly Request[];
  /** Requests sent at once on each connection. Default 1. */
  readonly pipelining?: number;
  /** One in this number of requests closes its connection. Default: connections stay open. */
  readonly closeEvery?: number;
}

const sum: Request = { path: '/baseline11?a=13&b=42' };
const text = { method: 'POST', headers: { 'Content-Type': 'text/plain' }, body: '20' } as const;
const baseline = [sum, { ...sum, ...text }, { ...sum, ...text, isChunked: true }];

const json = [...['1?m=3', '5?m=7', '10?m=2', '15?m=5', '25?m=4', '40?m=8', '50?m=6']].map(
  (target) => ({ path: `/json/${target}` }),
);

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
export const PROFILES: Readonly<Record<string, Profile>> = {
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

/** What `load.lua` reads: messages that it sends in turn, each after a line with its length. */
export function toMessages({ requests, pipelining = 1, closeEvery = 0 }: Profile): Buffer {
  let all = requests;
  while (closeEvery > 0 && all.length % closeEvery > 0) all = [...all, ...requests];
  return Buffer.concat(
    all.flatMap((request, index) => {
      const isLast = closeEvery > 0 && (index + 1) % closeEvery === 0;
      const message = Buffer.concat(Array(pipelining).fill(encode(request, isLast)));
      return [Buffer.from(`${message.length}\n`), message];
    }),
  );
}

function encode({ method = 'GET', path, headers, body, isChunked }: Request, isLast: boolean) {
  const length = body && Buffer.byteLength(body);
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...headers,
    ...(body && (isChunked ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': length })),
    ...(isLast && { Connection: 'close' }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([
    Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`),
    Buffer.from(isChunked ? `${length?.toString(16)}\r\n${body}\r\n0\r\n\r\n` : (body ?? '')),
  ]);
}
