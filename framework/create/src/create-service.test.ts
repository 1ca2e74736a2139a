import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

import { expect, onTestFinished, test } from 'vitest';

import { createService } from './create-service.ts';

const root = path.resolve(import.meta.dirname, '../../..');
const template = path.resolve(import.meta.dirname, '../template');

function readJson(file: string) {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

/** An empty folder, and a folder of packed packages whose only file is package.json. */
function newFolders() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'create-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const packages = path.join(folder, 'packages');
  fs.mkdirSync(packages);
  for (const file of fs.globSync('framework/*/package.json', { cwd: root })) {
    const { name, version, dependencies } = readJson(path.join(root, file));
    const content = Buffer.from(JSON.stringify({ name, version, dependencies }));
    const header = Buffer.alloc(512);
    header.write('package/package.json');
    header.write(`${content.length.toString(8).padStart(11, '0')}\0`, 124);
    const tarball = `${name.replace('@', '').replace('/', '-')}-${version}.tgz`;
    fs.writeFileSync(path.join(packages, tarball), gzipSync(Buffer.concat([header, content])));
  }
  return { folder, packages };
}

test('createService writes the template with the name of the folder, and the packages', () => {
  const { folder, packages } = newFolders();
  const service = path.join(folder, 'orders');

  const files = createService(service, { packages });

  const written = fs.globSync('**/*', { cwd: service }).filter((file) => path.extname(file) !== '');
  expect(files).toEqual(expect.arrayContaining(written));
  expect(files).toEqual(expect.arrayContaining(['Dockerfile', '.dockerignore', '.gitignore']));
  expect(fs.readFileSync(path.join(service, 'src/main.ts'), 'utf8')).toContain("name: 'orders'");
  for (const file of files.filter((one) => !one.startsWith('packages/'))) {
    expect(fs.readFileSync(path.join(service, file), 'utf8'), file).not.toContain('my-service');
  }
});

test('the resource has a name in every file, and --chart adds values for the chart', () => {
  const { folder, packages } = newFolders();
  const service = path.join(folder, 'desk');
  const resource = { singular: 'ticket', plural: 'tickets' };

  const files = createService(service, { packages }, { resource, chart: true });

  const read = (file: string) => fs.readFileSync(path.join(service, file), 'utf8');
  const own = files.filter((file) => !file.startsWith('packages/'));
  expect(own).toEqual(expect.arrayContaining(['src/ticket.ts', 'deploy/values.yaml']));
  for (const file of own) expect(`${file} ${read(file)}`).not.toMatch(/task|my-service/i);
  expect(read('src/v1.ts')).toContain('export function createTicketRoutes(store: TicketStore');
  expect(read('src/main.ts')).toContain("name: 'desk'");
  expect(read('deploy/values.yaml')).toContain('paths: [/api/v1/tickets]');
});

test('two services do not open the SQLite file of each other', () => {
  const { folder, packages } = newFolders();
  const idOf = (name: string) => {
    createService(path.join(folder, name), { packages });
    const store = fs.readFileSync(path.join(folder, name, 'src/store/sqlite.ts'), 'utf8');
    return /applicationId: (0x[\da-f]+),/.exec(store)?.[1];
  };

  expect(idOf('one')).not.toBe(idOf('two'));
});

test('package.json contains every needed package once, as a file of the folder packages', () => {
  const { folder, packages } = newFolders();
  const service = path.join(folder, 'orders');

  const files = createService(service, { packages });

  const { name, dependencies, devDependencies } = readJson(path.join(service, 'package.json'));
  const versions: string[] = [...Object.values<string>(dependencies), devDependencies['@fw/core']];
  const local = versions.filter((version) => version.startsWith('file:'));
  expect(name).toBe('orders');
  expect(local.map((version) => version.replace('file:', '')).sort()).toEqual(
    files.filter((file) => file.startsWith('packages/')).sort(),
  );
  expect(Object.keys(dependencies)).toEqual(expect.arrayContaining(['@fw/errors', 'fw']));
  expect(Object.keys(dependencies)).not.toContain('@fw/controllers');
});

test('package.json of a service from a registry names the packages of its scope', () => {
  const { folder } = newFolders();
  const service = path.join(folder, 'orders');

  const files = createService(service, { scope: '@acme', version: '0.2.0' });

  const { dependencies, devDependencies } = readJson(path.join(service, 'package.json'));
  expect(files.filter((file) => file.startsWith('packages/'))).toEqual([]);
  expect(devDependencies).toMatchObject({ '@fw/core': 'npm:@acme/fw-core@0.2.0' });
  expect(dependencies).toEqual({
    ...readJson(path.join(template, 'package.json')).dependencies,
    '@fw/body-parser': 'npm:@acme/fw-body-parser@0.2.0',
    '@fw/service': 'npm:@acme/fw-service@0.2.0',
    '@fw/validation': 'npm:@acme/fw-validation@0.2.0',
    fw: 'npm:@acme/fw@0.2.0',
  });
});

test.each(['Orders', '1st', 'orders-', 'my_service', '-x', 'x'.repeat(64), 'a b', 'órders'])(
  'a service cannot have the name "%s"',
  (name) => {
    const { folder, packages } = newFolders();

    expect(() => createService(path.join(folder, name), { packages })).toThrow(
      `Cannot name a service "${name}": expected at most 63 lower-case letters, digits and hyphens`,
    );
    expect(fs.readdirSync(folder)).toEqual(['packages']);
  },
);

test.each(['fw', 'zod', 'vitest'])(
  'a service cannot have the name of its dependency %s',
  (name) => {
    const { folder, packages } = newFolders();

    expect(() => createService(path.join(folder, name), { packages })).toThrow(
      `Cannot name a service "${name}": it uses a package with this name`,
    );
    expect(fs.existsSync(path.join(folder, name))).toBe(false);
  },
);

test('a folder that is not empty is not changed', () => {
  const { folder, packages } = newFolders();
  const service = path.join(folder, 'orders');
  fs.mkdirSync(service);
  fs.writeFileSync(path.join(service, 'notes'), 'mine');

  expect(() => createService(service, { packages })).toThrow(
    `Cannot create "${service}": it exists and is not an empty folder`,
  );
  expect(fs.readdirSync(service)).toEqual(['notes']);
});

test('an empty folder is used', () => {
  const { folder, packages } = newFolders();
  const service = path.join(folder, 'orders');
  fs.mkdirSync(service);

  createService(service, { packages });

  expect(fs.existsSync(path.join(service, 'src/main.ts'))).toBe(true);
});

test.each([
  ['missing', (file: string) => fs.rmSync(file)],
  ['damaged', (file: string) => fs.truncateSync(file, 50)],
])('a %s package is named, and nothing is written', (_, damage) => {
  const { folder, packages } = newFolders();
  const file = path.join(packages, 'fw-errors-0.1.0.tgz');
  damage(file);

  expect(() => createService(path.join(folder, 'orders'), { packages })).toThrow(
    `Cannot read the package "${file}": expected --packages FOLDER`,
  );
  expect(fs.existsSync(path.join(folder, 'orders'))).toBe(false);
});

test.each([false, true])(
  'if a file cannot be written, the others are removed (the folder existed: %s)',
  (existed) => {
    const { folder, packages } = newFolders();
    // Linux allows paths of 4,095 bytes: the folder is short enough, and its longest files are not.
    const long = 'd'
      .repeat(4_060 - folder.length)
      .replaceAll('d'.repeat(100), `/${'d'.repeat(99)}`);
    const service = path.join(folder, 'parent', long, 'orders');
    if (existed) fs.mkdirSync(service, { recursive: true });

    expect(() => createService(service, { packages })).toThrow(
      /^Cannot create ".*\/orders": ENAMETOOLONG/,
    );
    expect(fs.existsSync(path.join(folder, 'parent'))).toBe(existed);
    if (existed) expect(fs.readdirSync(service)).toEqual([]);
  },
);

test('the template uses the versions of this repository', () => {
  const { dependencies, devDependencies } = readJson(path.join(template, 'package.json'));
  const packages = fs
    .globSync('framework/*/package.json', { cwd: root })
    .map((file) => readJson(path.join(root, file)));
  const ours = Object.fromEntries(packages.map(({ name, version }) => [name, version]));
  const all = { ...dependencies, ...devDependencies };
  const { devDependencies: tools } = readJson(path.join(root, 'package.json'));
  const { dependencies: libraries } = readJson(path.join(root, 'services/users/package.json'));
  const expected = { ...tools, ...libraries, ...ours };

  expect(all).toEqual(Object.fromEntries(Object.keys(all).map((name) => [name, expected[name]])));
});
