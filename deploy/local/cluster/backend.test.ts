import { expect, test } from 'vitest';
import { fakePrograms } from '../testing/fake-programs.ts';
import { chooseBackend } from './backend.ts';

const env = {};
const log = () => {};
const ENGINE = 'version*) echo 29.1.0;;';
const KIND = 'version) echo kind v0.33.0;;';
const CLIENTS = { kubectl: '', helm: '' };
const OFFLINE = `"image inspect"*) exit 1;;
pull*) echo "dial tcp: lookup registry-1.docker.io: no such host" >&2; exit 1;;`;
const DEAD = 'version*) echo "Cannot connect to the Docker daemon" >&2; exit 1;;';

test('kind is chosen if a Docker engine responds and kind is on the PATH', async () => {
  using _ = fakePrograms({ docker: ENGINE, kind: KIND, ...CLIENTS });

  expect(await chooseBackend({ wanted: '', running: undefined, env, log })).toEqual({
    name: 'kind',
    why: expect.stringContaining('a Docker engine and kind are available'),
  });
});

test.each([
  ['kind is not on the PATH', { docker: ENGINE, ...CLIENTS }],
  ['docker is not on the PATH', { kind: KIND, ...CLIENTS }],
  ['kubectl is not on the PATH', { docker: ENGINE, kind: KIND }],
  [
    'the node image of kind, kindest/node:v1.37.0, is unavailable: dial tcp: lookup registry-1.docker.io: no such host',
    { docker: OFFLINE, kind: KIND, ...CLIENTS },
  ],
  [
    'no Docker engine responds: Cannot connect to the Docker daemon',
    { docker: DEAD, kind: KIND, ...CLIENTS },
  ],
])('if %s, processes are chosen and BACKEND=kind is rejected', async (reason, programs) => {
  using _ = fakePrograms(programs);

  expect(await chooseBackend({ wanted: '', running: undefined, env, log })).toEqual({
    name: 'processes',
    why: expect.stringContaining(reason),
  });
  await expect(chooseBackend({ wanted: 'kind', running: undefined, env, log })).rejects.toThrow(
    `BACKEND is kind, but ${reason}`,
  );
});

test('KIND_IMAGE replaces the node image, and is pulled if it is missing', async () => {
  using programs = fakePrograms({
    ...CLIENTS,
    docker: `${ENGINE}"image inspect"*) exit 1;;`,
    kind: KIND,
  });
  const lines: string[] = [];

  await chooseBackend({
    wanted: 'kind',
    running: undefined,
    env: { KIND_IMAGE: 'mirror.example.org/node:1.37' },
    log: (line) => lines.push(line),
  });

  expect(programs.calls()).toContain('docker pull --quiet mirror.example.org/node:1.37');
  expect(lines).toEqual(['Pulling mirror.example.org/node:1.37']);
});

test.each(['processes', 'kind', 'kubeconfig'])('BACKEND=%s decides', async (wanted) => {
  using _ = fakePrograms({ docker: ENGINE, kind: KIND, ...CLIENTS });

  expect(await chooseBackend({ wanted, running: undefined, env, log })).toEqual({
    name: wanted,
    why: `BACKEND is ${wanted}`,
  });
});

test('a running system stays on its backend', async () => {
  using _ = fakePrograms({ docker: ENGINE, kind: KIND, ...CLIENTS });

  expect(await chooseBackend({ wanted: '', running: 'processes', env, log })).toEqual({
    name: 'processes',
    why: 'it runs there already',
  });
  await expect(chooseBackend({ wanted: 'kind', running: 'processes', env, log })).rejects.toThrow(
    'The system runs on processes: "make down" first, then BACKEND=kind',
  );
});

test('an unknown backend is rejected with a list of the known ones', async () => {
  await expect(chooseBackend({ wanted: 'k3s', running: undefined, env, log })).rejects.toThrow(
    'BACKEND is "k3s": expected processes, kind, kubeconfig',
  );
});
