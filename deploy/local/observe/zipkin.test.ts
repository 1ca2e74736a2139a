import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterEach, expect, test, vi } from 'vitest';

import { ensureZipkin } from './zipkin.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.unstubAllGlobals();
});

test.each([
  [
    'another file',
    async () => new Response('x'),
    /^Cannot use https:.+ its SHA-256 is 2d7116.+, expected 981b1d/,
  ],
  [
    'an error',
    async () => new Response('', { status: 503 }),
    /^Cannot download Zipkin \(status 503\): save https:/,
  ],
  [
    'no connection',
    () => Promise.reject(new TypeError('fetch failed', { cause: new Error('ENOTFOUND') })),
    /^Cannot download Zipkin \(ENOTFOUND\): save https:.+\.jar as .+\.jar$/,
  ],
])(
  'a download with %s as the response fails with one line and leaves no file',
  async (_, fetch, message) => {
    const cache = fs.mkdtempSync(path.join(os.tmpdir(), 'zipkin-'));
    vi.stubEnv('XDG_CACHE_HOME', cache);
    vi.stubGlobal('fetch', fetch);

    await expect(ensureZipkin(() => {})).rejects.toThrow(message);

    expect(fs.readdirSync(cache)).toEqual([]);
    fs.rmSync(cache, { recursive: true });
  },
);
