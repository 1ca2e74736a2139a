import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { startExample } from './testing.ts';

const readme = readFileSync(join(import.meta.dirname, '../README.md'), 'utf8');
/** Program and request path of each row. */
const rows = [
  ...readme.matchAll(/`node framework\/examples\/src\/(\w+)\.ts` \|.*?localhost:3000([^\s`'>]*)/g),
].map(([, name = '', path = '']) => [name, path] as const);

test('the README lists every program', () => {
  const programs = globSync('*.ts', { cwd: import.meta.dirname }).filter((file) =>
    /^await listen\(/m.test(readFileSync(join(import.meta.dirname, file), 'utf8')),
  );

  expect(rows.map(([name]) => `${name}.ts`).sort()).toEqual(programs.sort());
});

describe.each(rows)('%s.ts', (name, path) => {
  test('starts with the command of the README and serves its request', async () => {
    const example = await startExample(name);
    onTestFinished(example.stop);

    const response = await fetch(`${example.origin}${path}`, {
      headers: name === 'reports' ? { Authorization: 'Bearer ada-token' } : {},
    });

    expect(response.status).toBe(name === 'guard' ? 401 : 200);
  });

  test('has at most 80 lines', () => {
    const source = readFileSync(join(import.meta.dirname, `${name}.ts`), 'utf8');

    expect(source.trimEnd().split('\n').length).toBeLessThanOrEqual(80);
  });
});
