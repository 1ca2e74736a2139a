import { execFile } from 'node:child_process';
import {
  globSync,
  mkdirSync,
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
import { promisify } from 'node:util';

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
    expect(packages).not.toContain('valibot');
    expect(packages).not.toContain('pino-pretty');
    // The others verify tokens only with AUTH=required.
    expect(packages.includes('jose')).toBe(name === 'reports');
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

const POSTGRES = `
    import { openPostgres } from '@fw/service/postgres';
    console.log(typeof openPostgres === 'function');`;

/** Programs that print `true` if they can use an optional package of the framework. */
const PROGRAMS: Readonly<Record<string, string>> = {
  '@valibot/to-json-schema': `
    import { toJsonSchema } from '@fw/core/schema';
    import * as v from 'valibot';
    console.log(toJsonSchema(v.object({ a: v.string() }), 'output').type === 'object');`,
  jose: `
    import { bearerToken } from '@fw/middleware/bearer-token';
    console.log(typeof bearerToken === 'function');`,
  pg: POSTGRES,
  'pg-connection-string': POSTGRES,
  redis: `
    import { redisStore } from '@fw/rate-limit/redis';
    import { createClient } from 'redis';
    console.log(typeof redisStore(createClient()) === 'object');`,
  ws: `
    import { websocket } from '@fw/middleware/websocket';
    console.log(typeof websocket({}) === 'function');`,
  zod: `
    import { toJsonSchema } from '@fw/core/schema';
    import * as z from 'zod/mini';
    console.log(toJsonSchema(z.object({ a: z.string() }), 'output').type === 'object');`,
};

/** Packages that build or test a service: they are not part of it. */
const TOOLS = ['@redocly/cli', 'esbuild', 'vitest'];

const optionalPackages = globSync('framework/*/package.json', { cwd: root }).flatMap((file) =>
  Object.keys(JSON.parse(readFileSync(join(root, file), 'utf8')).peerDependenciesMeta ?? {}),
);

test.each([...new Set(optionalPackages)].filter((name) => !TOOLS.includes(name)))(
  'a bundle contains the optional package %s and runs without node_modules',
  async (name) => {
    mkdirSync(join(root, '.local'), { recursive: true });
    const source = mkdtempSync(join(root, '.local/program-')); // below node_modules
    const folder = newFolder();
    onTestFinished(() => {
      for (const each of [source, folder]) rmSync(each, { recursive: true });
    });
    const entry = join(source, 'main.ts');
    writeFileSync(entry, PROGRAMS[name] ?? `The package ${name} has no program`);

    await buildService({ entry, outfile: join(folder, 'main.js') });
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, 'main.js')], {
      cwd: folder,
    });

    expect(stdout).toBe('true\n');
  },
);

test('the bundle of a service needs only the packages of @fw/service', async () => {
  mkdirSync(join(root, '.local'), { recursive: true });
  const source = mkdtempSync(join(root, '.local/program-')); // below node_modules
  onTestFinished(() => rmSync(source, { recursive: true }));
  const entry = join(source, 'main.ts');
  writeFileSync(entry, "import { runService } from '@fw/service'; console.log(runService);");
  const { dependencies } = JSON.parse(
    readFileSync(join(root, 'framework/service/package.json'), 'utf8'),
  );

  const { inputs } = await buildService({ entry, outfile: join(source, 'main.js') });

  const optional = new Set(optionalPackages.filter((name) => !(name in dependencies)));
  const found = Object.keys(inputs).flatMap(
    (file) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1] ?? [],
  );
  expect(found.filter((name) => optional.has(name))).toEqual([]);
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
