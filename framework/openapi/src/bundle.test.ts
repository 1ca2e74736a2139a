import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { build } from 'esbuild';
import { expect, test } from 'vitest';

const PROGRAM = `
import { createApp, createRouter, endpoint, listen } from 'fw';
import { openapi } from '@fw/openapi';
import * as v from 'valibot';

const router = createRouter();
router.get('/u', endpoint({ responses: { 200: v.object({ name: v.string() }) } }), (ctx) => ctx.json({}));
const app = createApp({ logger: { info() {}, warn() {}, error() {} } });
app.use(openapi({ router })).route('/', router);
const { port } = await listen(app, { port: 0, host: '127.0.0.1' });
console.log(port);
`;

test('a bundle serves the document and the page without other files', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-bundle-'));
  const file = path.join(folder, 'main.mjs');
  await build({
    stdin: { contents: PROGRAM, resolveDir: import.meta.dirname, loader: 'ts' },
    outfile: file,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  const child = spawn(process.execPath, [file], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const port = await new Promise((resolve) =>
      createInterface(child.stdout).once('line', resolve),
    );

    const document = await (await fetch(`http://127.0.0.1:${port}/openapi.json`)).json();
    const page = await (await fetch(`http://127.0.0.1:${port}/docs`)).text();

    expect(document).toMatchObject({
      paths: {
        '/u': {
          get: {
            responses: {
              200: { content: { 'application/json': { schema: { required: ['name'] } } } },
            },
          },
        },
      },
    });
    expect(page).toContain('<script>');
  } finally {
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill();
    await exited;
    fs.rmSync(folder, { recursive: true, force: true });
  }
});
