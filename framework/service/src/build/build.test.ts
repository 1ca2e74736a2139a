import {
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import type { Metafile } from 'esbuild';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { runToEnd } from '../testing/testing.ts';
import { buildService } from './build.ts';

const root = resolve(import.meta.dirname, '../../../..');

function newFolder(): string {
  return mkdtempSync(join(tmpdir(), 'bundles-'));
}

/** The packages whose code the entry loads at the start. */
function packagesAtStart({ outputs }: Metafile, file: string): string[] {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    const { inputs = {}, imports = [] } = outputs[name] ?? {};
    for (const input of Object.keys(inputs)) {
      const [, found] = /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input) ?? [];
      if (found) packages.add(found);
    }
    for (const { kind, path } of imports) if (kind === 'import-statement') visit(path);
  };
  visit(file);
  return [...packages];
}

const services = globSync('services/*/src/main.ts', { cwd: root }).map(
  (file) => file.split('/')[1]!,
);

describe.each(services)('the bundle of %s', (name) => {
  const folder = newFolder();
  afterAll(() => rmSync(folder, { recursive: true }));
  const outfile = join(folder, 'main.js');
  const built = buildService({ root, entry: `services/${name}/src/main.ts`, outfile });

  test('imports only its own chunks and Node modules', async () => {
    await built;
    const files = readdirSync(folder).filter((file) => file.endsWith('.js'));

    const imports = files.flatMap((file) => {
      const code = readFileSync(join(folder, file), 'utf8');
      return [...code.matchAll(/^(?:import|export)\b[^'"]*"([^"]+)";$/gm)].map(([, from]) => from);
    });

    const isExpected = (from = '') => from.startsWith('./main.') || isBuiltin(from);
    expect(imports.filter((from) => !isExpected(from))).toEqual([]);
    expect(imports.length).toBeGreaterThan(0);
  });

  test('loads optional packages only when they are used', async () => {
    const metafile = await built;
    const [entry = ''] = Object.keys(metafile.outputs).filter((file) => file.endsWith('/main.js'));

    const packages = packagesAtStart(metafile, entry);

    expect(packages).toContain('zod');
    expect(packages).not.toContain('pg');
    expect(packages).not.toContain('pino-pretty');
    expect(packages.filter((found) => /^(?:@?redis|@opentelemetry\/(?!api))/.test(found))).toEqual(
      [],
    );
    expect(Object.keys(metafile.outputs[entry]?.inputs ?? {}).join()).not.toMatch(
      /zod.*locales\/fr/,
    );
  });
});

test('a bundle contains CommonJS packages and finds files relative to itself', async () => {
  const main = new URL('../fixtures/lazy/src/main.ts', import.meta.url);

  const { stdout, stderr } = await runToEnd(main, {});

  expect(stderr).toBe('');
  expect(JSON.parse(stdout)).toEqual({ pool: 'function', nearby: 'found' });
});

test('repeated and concurrent builds leave the same files and remove old chunks', async () => {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const entry = join(import.meta.dirname, '../fixtures/lazy/src/main.ts');
  const build = () => buildService({ entry, outfile: join(folder, 'main.js') });
  await build();
  const files = readdirSync(folder).sort();
  const inodes = files.map((file) => statSync(join(folder, file)).ino);
  for (const [index, file] of [...files, 'main.old-part.js', 'other.js'].entries()) {
    const daysAgo = new Date(Date.now() - (index + 2) * 24 * 3_600_000);
    if (!files.includes(file)) writeFileSync(join(folder, file), '');
    utimesSync(join(folder, file), daysAgo, daysAgo);
  }

  await Promise.all([build(), build(), build()]);

  expect(readdirSync(folder).sort()).toEqual([...files, 'other.js'].sort());
  expect(files.map((file) => statSync(join(folder, file)).ino)).toEqual(inodes);
});
