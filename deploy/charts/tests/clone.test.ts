import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { chartsIn, NEEDED } from './render.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-clone-'));
afterAll(() => fs.rmSync(folder, { recursive: true }));

/** Randomly generated at each rendering: passwords and their checksums. */
const RANDOM = /\b[A-Za-z0-9]{40}\b|(?<="checksum\/password":")\w+/g;

/** A copy of the checkout, which a test of "make service" may use, has no repository. */
const isClone = fs.existsSync(path.join(root, '.git'));

describe.skipIf(!isClone)('with the files of the repository alone,', () => {
  const charts = chartsIn(path.join(folder, 'deploy/charts'));

  beforeAll(() => {
    const options = { cwd: root, encoding: 'utf8' } as const;
    const tracked = execFileSync('git', ['ls-files', '-z', 'deploy'], options).split('\0');
    for (const file of tracked.filter((name) => name && fs.existsSync(path.join(root, name)))) {
      const copy = path.join(folder, file);
      fs.cpSync(path.join(root, file), copy, { recursive: true, verbatimSymlinks: true });
    }
  });

  test.each([...SERVICE_NAMES, 'platform'])('helm lints, packages and installs %s', (chart) => {
    const packages = fs.mkdtempSync(path.join(folder, 'packages-'));
    const render = (name: string) =>
      JSON.stringify(charts.render(name, NEEDED[chart])).replaceAll(RANDOM, 'RANDOM');

    const linted = charts.helm(['lint', '--strict', chart, '--values', '-'], NEEDED[chart]);
    const packed = charts.helm(['package', chart, '--destination', packages]);
    const [file = ''] = fs.readdirSync(packages);
    const rendered = render(path.join(packages, file));

    expect(linted, linted.stdout).toMatchObject({ status: 0 });
    expect(packed, packed.stderr).toMatchObject({ status: 0 });
    expect(rendered).toBe(render(chart));
    // The platform contains the configuration of nginx.
    expect(rendered.includes('proxy_pass')).toBe(chart === 'platform');
  });
});
