import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import fastifyMultipart from '@fastify/multipart';
import { type Application, createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import express from 'express';
import fastify from 'fastify';
import { Hono } from 'hono';
import { afterAll, expect, test, vi } from 'vitest';

import { expectSection, markdownTable } from '../../../../deploy/local/testing/markdown.ts';
import {
  filePart,
  formOf,
  HOSTILE_BODIES,
  type HostileBody,
  MULTIPART_TYPE,
} from '../testing/multipart.ts';
import { peer } from '../testing/peers.ts';
import { forms } from './forms.ts';

const README = join(import.meta.dirname, '../../README.md');
const root = mkdtempSync(join(tmpdir(), 'forms-peers-'));
afterAll(() => rmSync(root, { recursive: true }));

function folderOf(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

const limits = { fieldSize: 1024 ** 2, fields: 1_000, fileSize: 10 * 1024 ** 2, files: 10 };

function fw(folder: string): Application {
  return createApp()
    .use(forms({ multipart: { folder } }))
    .use((ctx) => ctx.json({}));
}

function multer(folder: string): Application {
  const load = createRequire(import.meta.url);
  const upload = load('multer')({ dest: folder, limits: { ...limits, parts: 1_010 } });
  const app = express().use(upload.any());
  app.post('/', (_, res) => void res.json({}));
  return peer(app);
}

async function multipartOfFastify(folder: string): Promise<Application> {
  const app = fastify();
  await app.register(fastifyMultipart, { limits: { ...limits, parts: 1_010 } });
  app.post('/', async (req) => {
    await req.saveRequestFiles({ tmpdir: folder });
    return {};
  });
  await app.ready();
  return { handle: app.routing, ready: async () => {} } as unknown as Application;
}

const parseBody = () =>
  peer(
    new Hono().post('/', async (c) => {
      await c.req.parseBody();
      return c.json({});
    }),
  );

/** The status, or "none" without a response within a second, and the number of files that stay. */
async function outcome(app: Application, folder: string, body: string, type: string) {
  const headers = { 'Content-Type': type, 'Content-Length': String(body.length) };
  const sent = request(app, '/', { method: 'POST', headers, body: Buffer.from(body, 'latin1') });
  const late = new Promise<'none'>((resolve) => setTimeout(resolve, 1_000, 'none'));
  const status = await Promise.race([
    sent.then((response) => String(response.status)).catch(() => 'none'),
    late,
  ]);
  const countFiles = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
      .length;
  await vi.waitFor(() => expect(countFiles()).toBe(0), { timeout: 500 }).catch(() => {});
  const left = countFiles();
  rmSync(folder, { recursive: true });
  mkdirSync(folder);
  return left === 0 ? status : `${status}, ${left} left`;
}

/** Outcomes that differ from run to run, by package and body. */
const VARYING: Readonly<Record<string, string>> = {
  '@fastify/multipart: 10,000 files': '413 or none',
};

test('the README compares what hostile multipart bodies cause', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {}); // express and hono print errors
  const folders = ['fw', 'multer', '@fastify'].map(folderOf);
  const [ours = '', multers = '', fastifys = ''] = folders;
  const peers: readonly (readonly [string, Application, string])[] = [
    ['fw', fw(ours), ours],
    ['multer', multer(multers), multers],
    ['@fastify/multipart', await multipartOfFastify(fastifys), fastifys],
    ['hono parseBody', parseBody(), folderOf('hono')],
  ];
  const valid: HostileBody = { title: 'a valid form', body: formOf(filePart('photo', 'a.png')) };
  const rows: string[][] = [];
  for (const { title, body, type = MULTIPART_TYPE } of [valid, ...HOSTILE_BODIES]) {
    const row = [title];
    for (const [name, app, folder] of peers) {
      const result = await outcome(app, folder, body, type);
      const varying = VARYING[`${name}: ${title}`];
      row.push(varying?.split(' or ').includes(result) ? varying : result);
    }
    rows.push(row);
  }

  expect(rows.slice(1).filter(([, status = '']) => !/^(?:400|413)$/.test(status))).toEqual([]);
  expectSection(
    README,
    'forms-peers',
    markdownTable(['Body', ...peers.map(([name]) => name)], rows),
  );
});
