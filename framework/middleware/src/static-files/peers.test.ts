import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fastifyStatic from '@fastify/static';
import { type Application, createApp } from '@fw/core';
import { type RequestOptions, request } from '@fw/core/testing';
import { serveStatic } from '@hono/node-server/serve-static';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, expect, test } from 'vitest';

import { expectSection, markdownTable } from '../../../../deploy/local/testing/markdown.ts';
import { peer } from '../testing/peers.ts';
import { staticFiles } from './static-files.ts';

const README = join(import.meta.dirname, '../../README.md');
const folder = mkdtempSync(join(tmpdir(), 'static-peers-'));
afterAll(() => rmSync(folder, { recursive: true }));
const root = join(folder, 'public');
mkdirSync(join(root, 'docs'), { recursive: true });
for (const [name, text] of [
  ['index.html', '<p>home</p>'],
  ['digits.txt', '0123456789'],
  ['app.js', 'let a;'],
  ['app.js.br', 'as brotli'],
  ['.env', 'SECRET=1'],
  ['../secret.txt', 'SECRET=1'],
] as const) {
  writeFileSync(join(root, name), text);
}
symlinkSync(join(folder, 'secret.txt'), join(root, 'outside.txt'));

const fastifyApp = fastify();
await fastifyApp.register(fastifyStatic, { root, preCompressed: true });
await fastifyApp.ready();

const PEERS: Readonly<Record<string, Application>> = {
  fw: createApp().use(staticFiles({ root, precompressed: true })),
  'express.static': peer(express().use(express.static(root))),
  '@fastify/static': {
    handle: fastifyApp.routing,
    ready: async () => {},
  } as unknown as Application,
  'hono serveStatic': peer(new Hono().use(serveStatic({ root, precompressed: true }))),
};

/** The status, and the value of the header that matters for this request. */
async function outcome(app: Application, path: string, options: RequestOptions, header: string) {
  const { status, headers } = await request(app, path, options);
  const value = status < 400 || status === 416 ? headers.get(header) : null;
  return value === null ? String(status) : `${status} \`${value}\``;
}

const IN_2100 = new Date('2100-01-01').toUTCString();

test('the README compares static file servers on the same requests', async () => {
  const cases: readonly (readonly [string, string, string, RequestOptions])[] = [
    ['a page', '/', 'content-type', {}],
    ['a script', '/app.js', 'content-type', {}],
    [
      '`Accept-Encoding: br`',
      '/app.js',
      'content-encoding',
      { headers: { 'Accept-Encoding': 'br' } },
    ],
    ['a folder', '/docs', 'location', {}],
    ['`If-None-Match: *`', '/digits.txt', 'x', { headers: { 'If-None-Match': '*' } }],
    ['`If-Modified-Since`', '/digits.txt', 'x', { headers: { 'If-Modified-Since': IN_2100 } }],
    ['`If-Match: "x"`', '/digits.txt', 'x', { headers: { 'If-Match': '"x"' } }],
    ['`Range: bytes=0-3`', '/digits.txt', 'content-range', { headers: { Range: 'bytes=0-3' } }],
    ['`Range: bytes=99-`', '/digits.txt', 'content-range', { headers: { Range: 'bytes=99-' } }],
    [
      '`If-Range: "x"`',
      '/digits.txt',
      'content-range',
      { headers: { Range: 'bytes=0-3', 'If-Range': '"x"' } },
    ],
    ['HEAD', '/digits.txt', 'content-length', { method: 'HEAD' }],
    ['POST', '/digits.txt', 'x', { method: 'POST' }],
    ['a dot file', '/.env', 'content-length', {}],
    ['`..` in the path', '/..%2Fsecret.txt', 'content-length', {}],
    ['a link to a file outside', '/outside.txt', 'content-length', {}],
  ];
  const rows: string[][] = [];
  for (const [title, path, header, options] of cases) {
    const outcomes = Object.values(PEERS).map((app) => outcome(app, path, options, header));
    rows.push([title, ...(await Promise.all(outcomes))]);
  }

  expect(rows.map(([, fw]) => fw?.slice(0, 3))).toEqual(
    '200 200 200 301 304 304 412 206 416 200 200 404 404 400 404'.split(' '),
  );
  expectSection(
    README,
    'static-files-peers',
    markdownTable(['Request', ...Object.keys(PEERS)], rows),
  );
});
