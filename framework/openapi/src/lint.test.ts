import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { request } from '@fw/core/testing';
import { afterAll, beforeAll, expect, test } from 'vitest';

import type { OpenApiOptions } from './index.ts';
import { createExampleApp } from './testing/example-app.ts';

const redocly = path.join(import.meta.dirname, '../../../node_modules/@redocly/cli/bin/cli.js');
const HOSTILE = '</script><script>alert(1)</script> "\\\' {{y}} \u2028';

let folder = '';
beforeAll(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-lint-'));
});
afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

async function lint(options: Partial<OpenApiOptions> = {}) {
  const document = await (await request(createExampleApp(options), '/openapi.json')).text();
  const file = path.join(folder, 'openapi.json');
  fs.writeFileSync(file, document);
  const run = spawnSync(
    process.execPath,
    [redocly, 'lint', file, '--extends', 'recommended', '--format', 'json'],
    {
      encoding: 'utf8',
      cwd: folder,
      env: { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' },
    },
  );
  return { status: run.status, report: JSON.parse(run.stdout) };
}

test('redocly lint finds nothing in a document of prefixes, groups and mounts', async () => {
  const { status, report } = await lint();

  expect(report.problems).toEqual([]);
  expect(status).toBe(0);
});

test('redocly lint finds no error in a document of hostile texts', async () => {
  const { report } = await lint({
    info: { title: HOSTILE, version: HOSTILE, description: HOSTILE },
  });

  expect(report.totals.errors).toBe(0);
});
