import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';
import { SERVICE_NAMES } from '../../services/services.ts';

import { fakePrograms } from '../local/testing/fake-programs.ts';

/** An engine that has every image, each with Node 26. */
const DOCKER = `
*--version) echo v26.10.0;;
"image inspect --format"*) echo 145000000;;
history*) echo 0; echo 1500000;;
`;

/** Runs the program of `make images`; `cases` precede those of `DOCKER`. */
function buildImages(env: NodeJS.ProcessEnv = {}, cases = '') {
  using programs = fakePrograms({ docker: cases + DOCKER });
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, 'build.ts')],
    { encoding: 'utf8', env: { PATH: programs.folder, ...env } },
  );
  const builds = programs.calls().filter((call) => call.startsWith('docker build'));
  return { status, stdout, stderr, builds };
}

const BASES = { BUILD_IMAGE: 'here/build:26', RUN_IMAGE: 'here/run:26' };

test('builds each service on the given base images and prints the sizes', () => {
  const { status, stdout, stderr, builds } = buildImages({ ...BASES, TAG: '1.2.0' });

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout.replaceAll(/\d+ s$/gm, '0 s').split('\n')).toEqual([
    'Building in here/build:26, to run on here/run:26',
    ...SERVICE_NAMES.map(
      (name) => `${`fw-${name}:1.2.0`.padEnd(20)} 145.0 MB, service layer 1.5 MB, built in 0 s`,
    ),
    '',
  ]);
  for (const build of builds) {
    expect(build).toContain('--build-arg=BUILD_IMAGE=here/build:26');
    expect(build).toContain('--build-arg=RUN_IMAGE=here/run:26');
  }
});

test('the default base images are those of the Dockerfile, with complete tags', () => {
  const { stdout, builds } = buildImages({}, '"image inspect local/"*) exit 1;;');

  const dockerfile = fs.readFileSync(path.join(import.meta.dirname, '../../Dockerfile'), 'utf8');
  const [build, run] = [...dockerfile.matchAll(/^ARG \w+_IMAGE=(.+)$/gm)].map(([, name]) => name);
  expect(stdout).toContain(`Building in ${build}, to run on ${run}\n`);
  expect([build, run]).toEqual([
    expect.stringMatching(/^node:26\.\d+\.\d+-\w+-slim$/),
    expect.stringMatching(/^[\w./-]+\/nodejs26-\w+:nonroot$/),
  ]);
  expect(builds).toHaveLength(SERVICE_NAMES.length);
});

test('the source is a label only if it is known', () => {
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
    'an invalid source',
    { SOURCE: 'fw' },
    '',
    'SOURCE is "fw": expected an address such as https://example.org/fw',
  ],
  [
    'an invalid image name',
    { BUILD_IMAGE: 'Node 26' },
    '',
    'BUILD_IMAGE is "Node 26": expected the name of an image, such as node:26-slim',
  ],
  [
    'an unavailable base image',
    { BUILD_IMAGE: 'nosuch:1' },
    '"image inspect nosuch:1"|pull*) echo "manifest unknown" >&2; exit 1;;',
    'BUILD_IMAGE is "nosuch:1": the Docker engine does not have it and cannot pull it (docker pull: manifest unknown): ' +
      'choose another image, as in make images BUILD_IMAGE=… RUN_IMAGE=…',
  ],
  [
    'a base image with another version of Node',
    { RUN_IMAGE: 'node:24-slim' },
    '*node:24-slim\\ --version) echo v24.1.0;;',
    'RUN_IMAGE is "node:24-slim": expected Node 26 in it, found v24.1.0',
  ],
  [
    'a base image without Node',
    { RUN_IMAGE: 'nginx' },
    '*nginx\\ --version) exit 127;;',
    'RUN_IMAGE is "nginx": expected Node 26 in it, found none',
  ],
  [
    'an unavailable engine',
    {},
    'version) echo "Cannot connect to the Docker daemon" >&2; exit 1;;',
    'no Docker engine responds: Cannot connect to the Docker daemon',
  ],
  [
    'no Docker',
    { PATH: '/nowhere' },
    '',
    'no Docker: install Docker Engine (https://docs.docker.com/engine/install)',
  ],
])('%s is rejected with one line, before anything is built', (_, env, cases, sentence) => {
  const { status, stderr, builds } = buildImages(env, cases);

  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `Cannot build the images: ${sentence}\n`,
  });
  expect(builds).toEqual([]);
});

test('a failed build prints the end of the builder output', () => {
  const { status, stdout, stderr } = buildImages(BASES, 'build*) echo "Step 8"; exit 1;;');

  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'Cannot build the images: docker build: Step 8\n',
  });
  expect(stdout).toMatch(/^fw-users:dev +failed$/m);
});
