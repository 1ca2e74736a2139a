import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';

import { SERVICE_NAMES } from '../../services/services.ts';
import { chooseBases } from './bases.ts';
import { buildImage, sizesOf } from './build.ts';
import { docker, missingEngine } from './docker.ts';
import { Container } from './testing/container.ts';
import { ENVIRONMENT as env, measure } from './testing/measure.ts';

const root = path.resolve(import.meta.dirname, '../..');
const missing = missingEngine();
if (missing) console.warn(`The tests of the images are skipped: ${missing}`);

const bases = chooseBases();
const tag = `test-${randomUUID().slice(0, 8)}`;
const imageOf = (service: string) => `fw-${service}:${tag}`;
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'images-'));
afterAll(() => fs.rmSync(scratch, { recursive: true }));

const MINUTES = 60_000;

describe.skipIf(missing)(
  `the images${missing ? ` (skipped: ${missing})` : ''}`,
  { timeout: 5 * MINUTES },
  () => {
    /** A copy of the sources, so that all builds have the same. */
    const context = path.join(scratch, 'context');
    /** Images of build steps that no other build can use. */
    const leftovers: string[] = [];

    const build = (service: string, options: { name: string; flags?: readonly string[] }) =>
      buildImage(service, { bases, context, ...options });

    beforeAll(async () => {
      copySources(context);
      for (const service of SERVICE_NAMES) await build(service, { name: imageOf(service) });
    }, 10 * MINUTES);

    afterAll(async () => {
      const names = await docker('images', '--format', '{{.Repository}}:{{.Tag}}');
      await removeAll(names.split('\n').filter((name) => name.includes(`:${tag}`)));
      // Images that are part of another image stay.
      for (const id of leftovers.reverse()) if (await isNameless(id)) await removeAll([id]);
    }, MINUTES);

    test('share every layer except the last, which is under 5 MB', async () => {
      const layers = await Promise.all(SERVICE_NAMES.map((service) => layersOf(imageOf(service))));
      const sizes = await Promise.all(SERVICE_NAMES.map((service) => sizesOf(imageOf(service))));

      const shared = layers.map((all) => all.slice(0, -1).join());
      expect(new Set(shared).size).toBe(1);
      expect(new Set(layers.map((all) => all.at(-1))).size).toBe(layers.length);
      expect(shared[0]).toBe((await layersOf(bases.RUN_IMAGE)).join());
      for (const { own } of sizes) expect(own).toBeLessThan(5e6);
    });

    test('are reproducible: a second build without cache has the same layers', async () => {
      const name = `${imageOf('catalog')}-again`;

      leftovers.push(...stepsOf(await build('catalog', { name, flags: ['--no-cache'] })));

      // The id of a layer is a digest of its archive.
      expect(await layersOf(name)).toEqual(await layersOf(imageOf('catalog')));
    });

    test('change only in the last layer if a line of source changes, and reuse the packages', async () => {
      const name = `${imageOf('users')}-edited`;
      const packages = await buildPackages();
      const main = path.join(context, 'services/users/src/main.ts');
      const text = fs.readFileSync(main, 'utf8');
      fs.writeFileSync(main, `${text}process.title = 'edited';\n`);

      try {
        leftovers.push(...stepsOf(await build('users', { name })));
        // The files of packages that are downloaded again would have other times.
        expect(await buildPackages()).toEqual(packages);
      } finally {
        fs.writeFileSync(main, text);
      }

      const [before, after] = [await layersOf(imageOf('users')), await layersOf(name)];
      expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
      expect(after.at(-1)).not.toBe(before.at(-1));
    });

    test('are not built for an unknown service', async () => {
      const building = docker('build', '--force-rm', ...argumentsOf('user'), context);

      await expect(building).rejects.toThrow(
        `Cannot assemble the service "user": SERVICE must be one of ${SERVICE_NAMES.join(', ')}`,
      );
    });

    describe.each(SERVICE_NAMES)('%s', (service) => {
      const image = imageOf(service);

      test('contains only the bundle, its data and its bill of materials', async () => {
        const files = await filesOf(image);

        const own = files.filter(({ name }) => name.startsWith('app/')).map(({ name }) => name);
        const others = own.filter(
          (name) => !/^app\/(?:dist\/main(?:\.[\w-]+)*\.js|dist\/)?$/.test(name),
        );
        expect(own).toContain('app/dist/main.js');
        expect(others.sort()).toEqual([
          ...(service === 'catalog' ? ['app/data/', 'app/data/items.ndjson'] : []),
          'app/package.json',
          'app/sbom.cdx.json',
        ]);
      });

      test('has no shell, no package manager, no set-uid file and no writable file', async () => {
        const files = await filesOf(image);

        const named = (pattern: RegExp) => files.filter(({ name }) => pattern.test(name));
        expect(named(/\/(?:ba|da|a|z|c|k|fi)?sh$|\/busybox$/)).toEqual([]);
        expect(named(/\/(?:apt|apt-get|dpkg|apk|rpm|npm|npx|yarn|pnpm|corepack)$/)).toEqual([]);
        expect(files.filter(({ mode }) => /^-..[sS]|^-.{5}[sS]/.test(mode))).toEqual([]);
        expect(files.filter(isWritable)).toEqual([]);
        expect(named(/(?:^|\/)nodejs\/bin\/node$|\/bin\/node$/)).toHaveLength(1);
      });

      test('has labels with its origin', async () => {
        const labels = JSON.parse(
          await docker('inspect', '--format', '{{json .Config.Labels}}', image),
        );

        const manifest = path.join(root, 'services', service, 'package.json');
        const { version, license } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
        expect(labels).toMatchObject({
          'org.opencontainers.image.title': `fw-${service}`,
          'org.opencontainers.image.description': expect.stringContaining(service),
          'org.opencontainers.image.licenses': license,
          'org.opencontainers.image.version': version,
          'org.opencontainers.image.base.name': bases.RUN_IMAGE,
          'fw.sbom': '/app/sbom.cdx.json',
        });
        expect(Object.values(labels)).not.toContain('');
      });

      test('responds with a read-only root and no capabilities, and exits on SIGTERM', async () => {
        await using container = await Container.start({ image, env });
        await container.ready();

        const document = await fetch(`${await container.address(8080)}/openapi.json`);
        const metrics = await (await fetch(`${await container.address(9090)}/metrics`)).text();
        await container.signal('SIGTERM');
        const { code, stdout, stderr } = await container.ended();

        expect(document.status).toBe(200);
        expect(metrics).toMatch(/^process_resident_memory_bytes [1-9]/m);
        expect(metrics).toMatch(/^process_open_fds [1-9]/m);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
        expect(
          stdout
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line).message),
        ).toContain('Drained');
      });

      test('starts with less than 0.5 s of processor time, and 128 MiB of memory', async () => {
        const { startCpuSeconds, idleMiB } = await measure(image);

        expect(startCpuSeconds).toBeLessThan(0.5);
        expect(idleMiB).toBeLessThan(128);
      });

      test('prints one line about an invalid variable', async () => {
        await using container = await Container.start({ image, env: { ...env, PORT: 'http' } });

        const { code, stdout, stderr } = await container.ended();

        expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
        expect(stderr.trim()).toBe(
          `Cannot run ${service}: PORT must be an integer from 0 to 65535, got "http"`,
        );
      });
    });

    test.each(['users', 'catalog'])(
      '%s runs its migrations, which need a volume',
      async (service) => {
        const options = { image: imageOf(service), args: ['migrate'] };
        await using withVolume = await Container.start(options);
        await using without = await Container.start({ ...options, hasData: false });

        const endings = await Promise.all([withVolume.ended(), without.ended()]);

        expect(endings.map(({ code }) => code)).toEqual([0, 1]);
        expect(endings[1].stderr).toContain(`Cannot open database "/data/${service}.db"`);
      },
    );

    test('reports reads a secret from a file that is mounted like in a cluster', async () => {
      const folder = path.join(scratch, 'secrets');
      fs.mkdirSync(path.join(folder, '..data'), { recursive: true });
      fs.writeFileSync(path.join(folder, '..data/JWT_SECRET'), env.JWT_SECRET);
      fs.symlinkSync('..data/JWT_SECRET', path.join(folder, 'JWT_SECRET'));
      await using container = await Container.start({
        image: imageOf('reports'),
        env: { JWT_SECRET_FILE: '/run/secrets/fw/JWT_SECRET' },
        folders: { '/run/secrets/fw': folder },
      });

      await container.ready();

      const response = await fetch(`${await container.address(8080)}/api/v2/reports`);
      expect(response.status).toBe(401);
    });

    test('node is process 1, does not run as root, and has only the permissions that it needs', async () => {
      const { heapMiB, ...found } = await probe(256);

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

    describe.each(memoryLimits())('with a memory limit of %i MiB', (memoryMiB) => {
      test('the heap can grow to about half of the limit', async () => {
        const { heapMiB } = await probe(memoryMiB);

        expect(heapMiB).toBeGreaterThanOrEqual(memoryMiB / 2);
        expect(heapMiB).toBeLessThan(memoryMiB * 0.6);
      });

      test.each(SERVICE_NAMES)('a memory leak in %s ends with a heap error', async (service) => {
        await using container = await Container.start({
          image: imageOf(service),
          memoryMiB,
          env: { ...env, NODE_OPTIONS: importOf(LEAK_ON_SIGNAL) },
        });
        await container.ready();

        await container.signal('SIGUSR2');
        const { code, isOutOfMemory, stderr } = await container.ended();

        expect(stderr).toMatch(/^FATAL ERROR: .* JavaScript heap out of memory$/m);
        expect(isOutOfMemory).toBe(false);
        expect([0, 137]).not.toContain(code);
      });
    });

    /** The layers of the stage that installs the packages. */
    async function buildPackages(): Promise<string[]> {
      const name = `${imageOf('users')}-packages`;
      await docker('build', '--target=packages', '--tag', name, ...argumentsOf('users'), context);
      return layersOf(name);
    }

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

    async function isNameless(id: string): Promise<boolean> {
      const tags = docker('image', 'inspect', '--format', '{{len .RepoTags}}', id);
      return (await tags.catch(() => '')) === '0';
    }

    async function removeAll(images: readonly string[]): Promise<void> {
      if (images.length > 0) await docker('rmi', ...images).catch(() => '');
    }
  },
);

/** The memory limits of the charts, the smallest that they accept, and twice the largest. */
function memoryLimits(): number[] {
  const charts = path.join(root, 'deploy/charts');
  const limits = SERVICE_NAMES.map((service): string => {
    const values = fs.readFileSync(path.join(charts, service, 'values.yaml'), 'utf8');
    return parse(values).resources.limits.memory;
  });
  const rejected = fs.readFileSync(path.join(charts, 'tests/rejected-values/users.yaml'), 'utf8');
  const [least] = /too little to start: expected \w+ or more/.exec(rejected) ?? [];
  const known = [least, ...limits].map((text) => Number(/(\d+)Mi\b/.exec(text ?? '')?.[1]));
  return [...new Set([...known, 2 * Math.max(...known)])];
}

/** Copies the build context, so that later changes do not affect it. */
function copySources(target: string): void {
  const left = /(?:^|\/)(?:node_modules|dist|\.local)(?:\/|$)/;
  const filter = (source: string) => !left.test(path.relative(root, source));
  const ignore = ['Dockerfile', '.dockerignore', 'LICENSE'];
  const read = ['package.json', 'package-lock.json', 'tsconfig.json'];
  for (const name of [...ignore, ...read, 'framework', 'services', 'deploy/images']) {
    fs.cpSync(path.join(root, name), path.join(target, name), { recursive: true, filter });
  }
}

/** The images that the classic builder created: ` ---> 293b6fa475df`, unless cached or a base image. */
function stepsOf(output: string): string[] {
  const lines = output.split('\n');
  return lines.flatMap((line, index) => {
    const [, id] = /^ ---> ([0-9a-f]{12})$/.exec(line) ?? [];
    const isOld = /: FROM | ---> Using cache$/.test(lines[index - 1] ?? '');
    return id && !isOld ? [id] : [];
  });
}

function argumentsOf(service: string): string[] {
  const given = Object.entries({ SERVICE: service, ...bases });
  return given.map(([name, value]) => `--build-arg=${name}=${value}`);
}

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

const run = promisify(execFile);

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

const LEAK_ON_SIGNAL = `
const kept = [];
process.once('SIGUSR2', () =>
  setInterval(() => {
    for (let size = 0; size < 2_000; size++) kept.push(new Array(size).fill({ size }));
  }, 5),
);
`;
