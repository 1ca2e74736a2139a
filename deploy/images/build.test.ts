import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { standIn } from '../local/testing/stand-ins.ts';

/** An engine that has every image, with Node in it. */
const DOCKER = `
*--version) echo v26.10.0;;
"image inspect --format"*) echo 145000000;;
history*) echo 0; echo 1500000;;
`;

/** What `make images` runs; what stands before the cases of `DOCKER` wins. */
function buildImages(env: NodeJS.ProcessEnv = {}, cases = '') {
  using programs = standIn({ docker: cases + DOCKER });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, 'build.ts')],
    { encoding: 'utf8', env: { PATH: programs.folder, ...env } },
  );
  const builds = programs.calls().filter((call) => call.startsWith('docker build'));
  return { status, stdout, stderr, builds };
}

const BASES = { BUILD_IMAGE: 'here/build:26', RUN_IMAGE: 'here/run:26' };

test('each service is built on the images that are named, and told with its sizes', () => {
  const { status, stdout, stderr, builds } = buildImages({ ...BASES, TAG: '1.2.0' });

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.replaceAll(/\d+ s$/gm, '0 s').split('\n')).toEqual([
    'Building in here/build:26, to run on here/run:26',
    'fw-catalog:1.2.0     145.0 MB, 1.5 MB of it its own, in 0 s',
    'fw-reports:1.2.0     145.0 MB, 1.5 MB of it its own, in 0 s',
    'fw-users:1.2.0       145.0 MB, 1.5 MB of it its own, in 0 s',
    '',
  ]);
  for (const build of builds) {
    expect(build).toContain('--build-arg=BUILD_IMAGE=here/build:26');
    expect(build).toContain('--build-arg=RUN_IMAGE=here/run:26');
  }
});

test('without a choice, the bases are those of the Dockerfile, each by a tag', () => {
  const { stdout, builds } = buildImages({}, '"image inspect local/"*) exit 1;;');

  const dockerfile = fs.readFileSync(path.join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const [build, run] = [...dockerfile.matchAll(/^ARG \w+_IMAGE=(.+)$/gm)].map(([, name]) => name);
  expect(stdout).toContain(`Building in ${build}, to run on ${run}\n`);
  expect([build, run]).toEqual([
    expect.stringMatching(/^node:26\.\d+\.\d+-\w+-slim$/),
    expect.stringMatching(/^[\w./-]+\/nodejs26-\w+:nonroot$/),
  ]);
  expect(builds).toHaveLength(3);
});

test('the source is a label where it is known, and none where it is not', () => {
  const source = 'https://example.org/fw';

  const [known, unknown] = [buildImages({ ...BASES, SOURCE: source }), buildImages(BASES)];

  expect(known.builds[0]).toContain(`--label=org.opencontainers.image.source=${source} `);
  expect(unknown.builds[0]).toContain('--label=org.opencontainers.image.version=');
  expect(unknown.builds.join()).not.toMatch(/image\.source|image\.\w+=(?: |$)/);
});

test.each<[string, NodeJS.ProcessEnv, string, string]>([
  [
    'a tag with a blank',
    { TAG: 'a b' },
    '',
    'TAG is "a b": expected a version such as 1.2.0, of letters, digits, "_", "." and "-"',
  ],
  [
    'a tag like an option',
    { TAG: '-x' },
    '',
    'TAG is "-x": expected a version such as 1.2.0, of letters, digits, "_", "." and "-"',
  ],
  [
    'a source that is no address',
    { SOURCE: 'fw' },
    '',
    'SOURCE is "fw": expected an address such as https://example.org/fw',
  ],
  [
    'a base that is no name',
    { BUILD_IMAGE: 'Node 26' },
    '',
    'BUILD_IMAGE is "Node 26": expected the name of an image, such as node:26-slim',
  ],
  [
    'a base that nobody has',
    { BUILD_IMAGE: 'nosuch:1' },
    '"image inspect nosuch:1"|pull*) echo "manifest unknown" >&2; exit 1;;',
    'BUILD_IMAGE is "nosuch:1": the Docker engine does not have it, and cannot pull it (docker pull: manifest unknown): ' +
      'name another one, as in make images BUILD_IMAGE=… RUN_IMAGE=…',
  ],
  [
    'a base of another Node',
    { RUN_IMAGE: 'node:24-slim' },
    '*node:24-slim\\ --version) echo v24.1.0;;',
    'RUN_IMAGE is "node:24-slim": expected Node 26 in it, and found v24.1.0',
  ],
  [
    'a base without Node',
    { RUN_IMAGE: 'nginx' },
    '*nginx\\ --version) exit 127;;',
    'RUN_IMAGE is "nginx": expected Node 26 in it, and found none',
  ],
  [
    'an engine that does not answer',
    {},
    'version) echo "Cannot connect to the Docker daemon" >&2; exit 1;;',
    'no Docker engine answers: Cannot connect to the Docker daemon',
  ],
  [
    'no Docker',
    { PATH: '/nowhere' },
    '',
    'no Docker: install Docker Engine (https://docs.docker.com/engine/install)',
  ],
])('%s is refused in one line, before anything is built', (_, env, cases, sentence) => {
  const { status, stderr, builds } = buildImages(env, cases);

  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `Cannot build the images: ${sentence}\n`,
  });
  expect(builds).toEqual([]);
});

test('a step that fails is told by the end of what the builder says', () => {
  const { status, stdout, stderr } = buildImages(BASES, 'build*) echo "Step 8"; exit 1;;');

  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'Cannot build the images: docker build: Step 8\n',
  });
  expect(stdout).toMatch(/^fw-catalog:dev +failed$/m);
});
