import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { SERVICE_NAMES, serviceOf } from '../../services/services.ts';
import { Container, docker, missingEngine } from './container.ts';

const root = path.resolve(import.meta.dirname, '../..');
const run = promisify(execFile);
const missing = missingEngine();
if (missing) console.warn(`The tests of the images are skipped: ${missing}`);

const tag = `test-${randomUUID().slice(0, 8)}`;
const imageOf = (service: string) => `fw-${service}:${tag}`;
const env = { JWT_SECRET: '0123456789abcdef0123456789abcdef' };

const MINUTES = 60_000;

describe.skipIf(missing)('the images', { timeout: 5 * MINUTES }, () => {
  beforeAll(() => run('make', ['images', `TAG=${tag}`], { cwd: root }), 10 * MINUTES);

  afterAll(async () => {
    const names = [...SERVICE_NAMES.map(imageOf), `${imageOf('catalog')}-again`];
    await docker('rmi', ...names).catch(() => '');
  }, MINUTES);

  test('share every layer except the last, which is under 5 MB', async () => {
    const layers = await Promise.all(SERVICE_NAMES.map((service) => layersOf(imageOf(service))));
    const sizes = await Promise.all(SERVICE_NAMES.map((service) => ownBytes(imageOf(service))));

    expect(new Set(layers.map((all) => all.slice(0, -1).join())).size).toBe(1);
    expect(new Set(layers.map((all) => all.at(-1))).size).toBe(layers.length);
    expect(Math.max(...sizes)).toBeLessThan(5e6);
  });

  test('are reproducible: a second build of the bundle results in the same layer', async () => {
    const name = `${imageOf('catalog')}-again`;
    // Another spelling of the default, which is not in the cache of the builder.
    const given = ['SERVICE=catalog', 'SOURCE_DATE_EPOCH=00', 'BUILD_IMAGE', 'RUN_IMAGE'];
    const options = given.map((one) => `--build-arg=${one}`);

    await docker('build', '--force-rm', ...options, '--tag', name, root);

    // The id of a layer is a digest of its archive.
    expect(await layersOf(name)).toEqual(await layersOf(imageOf('catalog')));
  });

  describe.each(SERVICE_NAMES)('%s', (service) => {
    const image = imageOf(service);

    test('contains only the bundle, its data and its bill of materials', async () => {
      const files = (await filesOf(image)).map(({ name }) => name);

      const own = files.filter((name) => name.startsWith('app/') && !name.endsWith('/'));
      const others = own.filter((name) => !/^app\/dist\/main(?:\.[\w-]+)*\.js$/.test(name));
      expect(own).toContain('app/dist/main.js');
      expect(others.sort()).toEqual([
        ...(service === 'catalog' ? ['app/data/items.ndjson'] : []),
        'app/package.json',
        'app/sbom.cdx.json',
      ]);
    });

    test('lists the packages of its bundle with their licences, and no others', async () => {
      await using container = new Container(await docker('create', image));
      const { components } = JSON.parse(await readFile(container, '/app/sbom.cdx.json'));

      const names = components.map(({ purl }: { purl: string }) => purl.replace(/@[\d.]+$/, ''));
      expect(names).toEqual(expect.arrayContaining(['pkg:npm/%40fw/core', 'pkg:npm/pino']));
      expect(names).not.toContain('pkg:npm/vitest');
      expect(components.filter((one: { licenses?: object }) => !one.licenses)).toEqual([]);
    });

    test('has no shell, no package manager, no set-uid file and no writable file', async () => {
      const files = await filesOf(image);

      const named = (pattern: RegExp) => files.filter(({ name }) => pattern.test(name));
      expect(named(/\/(?:ba|da|a|z|c|k|fi)?sh$|\/busybox$/)).toEqual([]);
      expect(named(/\/(?:apt|apt-get|dpkg|apk|rpm|npm|npx|yarn|pnpm|corepack)$/)).toEqual([]);
      expect(files.filter(({ mode }) => /^-..[sS]|^-.{5}[sS]/.test(mode))).toEqual([]);
      expect(files.filter(isWritable)).toEqual([]);
    });

    test('has labels with its origin', async () => {
      const labels = JSON.parse(
        await docker('inspect', '--format', '{{json .Config.Labels}}', image),
      );

      expect(labels).toMatchObject({
        'org.opencontainers.image.title': `fw-${service}`,
        'org.opencontainers.image.version': '0.1.0',
        'org.opencontainers.image.revision': expect.stringMatching(/^[0-9a-f]{40}$/),
        'fw.sbom': '/app/sbom.cdx.json',
      });
    });

    test('responds with a read-only root, no capabilities and 128 MiB, and exits on SIGTERM', async () => {
      await using container = await Container.start({
        image,
        env: serviceOf(service).authenticated ? env : {},
      });
      await container.ready();

      const document = await fetch(`${await container.address(8080)}/openapi.json`);
      const metrics = await (await fetch(`${await container.address(9090)}/metrics`)).text();
      await container.signal('SIGTERM');
      const { code, stdout, stderr } = await container.ended();

      const [, memory] = /^process_resident_memory_bytes ([\d.e+]+)$/m.exec(metrics) ?? [];
      expect(document.status).toBe(200);
      expect(Number(memory)).toBeLessThan(128 * 1024 ** 2);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain('"message":"Drained"');
    });
  });

  test('reports reads a secret from a file that is mounted like in a cluster', async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'images-'));
    fs.mkdirSync(path.join(folder, '..data'), { recursive: true });
    fs.writeFileSync(path.join(folder, '..data/JWT_SECRET'), env.JWT_SECRET);
    fs.symlinkSync('..data/JWT_SECRET', path.join(folder, 'JWT_SECRET'));
    onTestFinished(() => fs.rmSync(folder, { recursive: true }));
    fs.chmodSync(folder, 0o755);
    await using container = await Container.start({
      image: imageOf('reports'),
      env: { JWT_SECRET_FILE: '/run/secrets/app/JWT_SECRET' },
      folders: { '/run/secrets/app': folder },
    });

    await container.ready();

    const response = await fetch(`${await container.address(8080)}/api/v2/reports`);
    expect(response.status).toBe(401);
  });

  test('the service runs on the Node of the build image', async () => {
    const dockerfile = fs.readFileSync(path.join(root, 'Dockerfile'), 'utf8');
    const [, standard = ''] = /^ARG BUILD_IMAGE=(.+)$/m.exec(dockerfile) ?? [];
    const checksum = ['--entrypoint=sha256sum', process.env.BUILD_IMAGE || standard];
    await using container = new Container(await docker('create', imageOf('users')));
    const copied = 'docker cp "$0:/usr/local/bin/node" - | tar -xO | sha256sum';

    const [built] = (await docker('run', '--rm', ...checksum, '/usr/local/bin/node')).split(' ');
    const { stdout } = await run('sh', ['-c', copied, container.id]);

    expect(stdout.split(' ')[0]).toBe(built);
    expect(await probe(256)).toMatchObject({ program: '/usr/local/bin/node' });
  });

  test('node is process 1, does not run as root, and has only the permissions that it needs', async () => {
    const { heapMiB, program, ...found } = await probe(256);

    expect(heapMiB).toBeGreaterThan(100);
    expect(found).toEqual({
      pid: 1,
      uid: 65532,
      gid: 65532,
      readApp: 'may',
      writeApp: 'ERR_ACCESS_DENIED',
      readData: 'may',
      writeData: 'may',
      readEtc: 'ERR_ACCESS_DENIED',
      readRoot: 'ERR_ACCESS_DENIED',
      readEnvironment: 'ERR_ACCESS_DENIED',
      readAllByProc: 'ERR_ACCESS_DENIED',
      writeTmp: 'ERR_ACCESS_DENIED',
      link: 'ERR_ACCESS_DENIED',
      run: 'ERR_ACCESS_DENIED',
      thread: 'ERR_ACCESS_DENIED',
      inspect: 'ERR_ACCESS_DENIED',
    });
  });

  test.each([128, 256])('the heap can grow to about half of a limit of %i MiB', async (limit) => {
    const { heapMiB } = await probe(limit);

    expect(heapMiB).toBeGreaterThanOrEqual(limit / 2);
    expect(heapMiB).toBeLessThan(limit * 0.6);
  });

  /** Runs a module instead of the service and returns what it found. */
  async function probe(memoryMiB: number) {
    await using container = await Container.start({
      image: imageOf('users'),
      memoryMiB,
      env: { NODE_OPTIONS: importOf(PROBE) },
    });
    const { stdout } = await container.ended();
    return JSON.parse(stdout);
  }
});

async function layersOf(image: string): Promise<string[]> {
  return JSON.parse(await docker('image', 'inspect', '--format', '{{json .RootFS.Layers}}', image));
}

interface Entry {
  /** In the form of `ls -l`. */
  readonly mode: string;
  readonly uid: number;
  readonly gid: number;
  readonly name: string;
}

/** The size of the top layer, which contains the service. */
async function ownBytes(image: string): Promise<number> {
  const history = await docker('history', '--human=false', '--format', '{{.Size}}', image);
  return (
    history
      .split('\n')
      .map(Number)
      .find((bytes) => bytes > 0) ?? 0
  );
}

async function readFile({ id }: Container, file: string): Promise<string> {
  const { stdout } = await run('sh', ['-c', 'docker cp "$0:$1" - | tar -xO', id, file]);
  return stdout;
}

/** Every file of an image, and those that the engine adds to a container. */
async function filesOf(image: string): Promise<Entry[]> {
  await using container = new Container(await docker('create', image));
  const list = 'docker export "$0" | tar --list --verbose --numeric-owner';
  const { stdout } = await run('sh', ['-c', list, container.id], { maxBuffer: 64 * 1024 ** 2 });
  return stdout.split('\n').flatMap((line) => {
    const [, mode = '', uid, gid, name] =
      /^(\S+) +(\d+)\/(\d+) +\S+ \S+ \S+ (.*)$/.exec(line) ?? [];
    return name ? [{ mode, uid: Number(uid), gid: Number(gid), name }] : [];
  });
}

function isWritable({ mode, uid, gid }: Entry): boolean {
  const mayWrite = (uid === 65532 && mode[2]) || (gid === 65532 && mode[5]) || mode[8];
  return mode.startsWith('-') && mayWrite === 'w';
}

/** The option of Node that runs `code` first; encoded, because NODE_OPTIONS is split at spaces. */
function importOf(code: string): string {
  return `--import=data:text/javascript,${encodeURIComponent(code)}`;
}

const PROBE = `
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';

const attempt = (action) => {
  try {
    action();
    return 'may';
  } catch (error) {
    return error.code;
  }
};
console.log(JSON.stringify({
  program: process.execPath,
  pid: process.pid,
  uid: process.getuid(),
  gid: process.getgid(),
  heapMiB: getHeapStatistics().heap_size_limit / 1024 ** 2,
  readApp: attempt(() => fs.readFileSync('/app/package.json')),
  writeApp: attempt(() => fs.writeFileSync('/app/new', '')),
  writeData: attempt(() => fs.writeFileSync('/data/new', '')),
  readData: attempt(() => fs.readdirSync('/data')),
  readEtc: attempt(() => fs.readFileSync('/etc/passwd')),
  readRoot: attempt(() => fs.readdirSync('/')),
  readEnvironment: attempt(() => fs.readFileSync('/proc/self/environ')),
  readAllByProc: attempt(() => fs.readFileSync('/proc/self/root/etc/passwd')),
  writeTmp: attempt(() => fs.writeFileSync('/tmp/new', '')),
  link: attempt(() => fs.symlinkSync('/etc', '/data/etc')),
  run: attempt(() => execFileSync(process.execPath, ['--version'])),
  thread: attempt(() => new Worker('', { eval: true })),
  inspect: attempt(() => process.getBuiltinModule('node:inspector').open(0)),
}));
process.exit();
`;
