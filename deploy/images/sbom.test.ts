import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import type { Metafile } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import { SERVICE_NAMES } from '../../services/services.ts';
import { assemble } from './assemble.ts';
import { billOfMaterials } from './sbom.ts';

const root = path.resolve(import.meta.dirname, '../..');
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'sbom-'));
afterAll(() => fs.rmSync(scratch, { recursive: true }));

const readJson = (file: string) => JSON.parse(fs.readFileSync(file, 'utf8'));

/** The package folders in the comments of a bundle, such as `// node_modules/pg/lib/index.js`. */
function packagesIn(dist: string): string[] {
  const scripts = fs.globSync(`${dist}/*.js`).map((file) => fs.readFileSync(file, 'utf8'));
  const folders = scripts.flatMap((script) =>
    [
      ...script.matchAll(
        /^\/\/ (\S*\bnode_modules\/(?:@[^/\s]+\/)?[^/\s]+|framework\/[^/\s]+)\//gm,
      ),
    ].map(([, folder = '']) => folder),
  );
  return [...new Set(folders)];
}

describe.each(SERVICE_NAMES)('the service layer of %s', (service) => {
  const folder = path.join(scratch, service);
  const app = path.join(folder, 'app');
  const assembled = assemble(service, folder);

  test('lists every package in the bundle with its name, version and licence', async () => {
    await assembled;

    const listed = readJson(path.join(app, 'sbom.cdx.json')).components.map(
      ({ name, version, licenses, purl }: Record<string, string>) => [
        name,
        version,
        licenses?.[0],
        purl,
      ],
    );

    const bundled = packagesIn(path.join(app, 'dist')).map((from) => {
      const { name, version, license } = readJson(path.join(root, from, 'package.json'));
      const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
      return [
        name,
        version,
        expect.objectContaining({ license: expect.objectContaining({ id: license }) }),
        purl,
      ];
    });
    const byPurl = (one: string[], other: string[]) => (one.at(-1)! < other.at(-1)! ? -1 : 1);
    expect(listed.sort(byPurl)).toEqual(bundled.sort(byPurl));
    expect(listed.length).toBeGreaterThan(20);
  });

  test('contains the service, and only references to listed packages', async () => {
    await assembled;
    const { metadata, components, dependencies } = readJson(path.join(app, 'sbom.cdx.json'));
    const refs = [metadata.component, ...components].map((one) => one['bom-ref']);

    const used = dependencies.flatMap(
      ({ ref, dependsOn }: { ref: string; dependsOn: string[] }) => [ref, ...dependsOn],
    );

    expect(metadata.component).toMatchObject({ type: 'application', name: `@fw/${service}` });
    expect(new Set(used)).toEqual(new Set(refs));
    expect(new Set(refs).size).toBe(refs.length);
  });

  test('is reproducible to the byte', async () => {
    const again = path.join(scratch, `${service}-again`);
    await assembled;

    await assemble(service, again);

    expect(contentsOf(again)).toEqual(contentsOf(folder));
  });

  test('contains no source maps and no modification times', async () => {
    await assembled;

    const files = Object.entries(contentsOf(folder));

    expect(files.filter(([name]) => name.endsWith('.map'))).toEqual([]);
    expect(files.filter(([, { mtimeMs }]) => mtimeMs !== 0)).toEqual([]);
  });
});

function contentsOf(folder: string) {
  const names = fs.readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    names.map((name) => {
      const file = path.join(folder, name);
      const { mode, mtimeMs } = fs.statSync(file);
      const isFile = fs.statSync(file).isFile();
      return [name, { mode, mtimeMs, text: isFile ? fs.readFileSync(file, 'utf8') : undefined }];
    }),
  );
}

/** A bundle of one file of the package `some`, whose manifest is `manifest`. */
function bundleOf(manifest: object): { root: string; service: string; metafile: Metafile } {
  const folder = fs.mkdtempSync(path.join(scratch, 'root-'));
  const write = (name: string, text: string) => {
    fs.mkdirSync(path.dirname(path.join(folder, name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  };
  const own = { name: '@fw/trial', version: '0.1.0', license: 'MIT' };
  write('services/trial/package.json', JSON.stringify(own));
  write('node_modules/some/package.json', JSON.stringify(manifest));
  const inputs = {
    'services/trial/src/main.ts': { bytesInOutput: 10 },
    'node_modules/some/index.js': { bytesInOutput: 10 },
    'node_modules/unused/index.js': { bytesInOutput: 0 },
    'builtin:node:fs': { bytesInOutput: 10 },
  };
  const output = { bytes: 30, inputs, imports: [], exports: [] };
  return {
    root: folder,
    service: 'trial',
    metafile: { inputs: {}, outputs: { 'main.js': output } },
  };
}

test('a bill of materials omits unused packages and modules of Node', () => {
  const bundle = bundleOf({ name: 'some', version: '1.2.3', license: '(MIT OR CC0-1.0)' });

  const { components } = billOfMaterials(bundle);

  expect(components).toEqual([
    {
      type: 'library',
      'bom-ref': 'pkg:npm/some@1.2.3',
      name: 'some',
      version: '1.2.3',
      licenses: [{ expression: '(MIT OR CC0-1.0)' }],
      purl: 'pkg:npm/some@1.2.3',
    },
  ]);
});

test('a package without a licence is an error', () => {
  const bundle = bundleOf({ name: 'some', version: '1.2.3' });

  expect(() => billOfMaterials(bundle)).toThrow(
    'Cannot list node_modules/some: its package.json must contain a version and a license',
  );
});
