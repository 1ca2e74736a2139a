import { expect, test } from 'vitest';
import { standIn } from '../testing/stand-ins.ts';
import { chooseBackend } from './backend.ts';

const ENGINE = 'version*) echo 29.1.0;;';
const KIND = 'version) echo kind v0.33.0;;';
const DEAD = 'version*) echo "Cannot connect to the Docker daemon" >&2; exit 1;;';

test('kind is chosen where a Docker engine answers and kind is on the PATH', async () => {
  using _ = standIn({ docker: ENGINE, kind: KIND });

  expect(await chooseBackend({ wanted: '', running: undefined })).toEqual({
    name: 'kind',
    why: expect.stringContaining('a Docker engine and kind are here'),
  });
});

test.each([
  ['kind is not on the PATH', { docker: ENGINE }],
  ['docker is not on the PATH', { kind: KIND }],
  ['no Docker engine answers: Cannot connect to the Docker daemon', { docker: DEAD, kind: KIND }],
])('processes are chosen where %s, and kind refused for that reason', async (reason, programs) => {
  using _ = standIn(programs);

  expect(await chooseBackend({ wanted: '', running: undefined })).toEqual({
    name: 'processes',
    why: expect.stringContaining(reason),
  });
  await expect(chooseBackend({ wanted: 'kind', running: undefined })).rejects.toThrow(
    `BACKEND is kind, but ${reason}`,
  );
});

test.each(['processes', 'kind', 'kubeconfig'])('BACKEND=%s decides', async (wanted) => {
  using _ = standIn({ docker: ENGINE, kind: KIND });

  expect(await chooseBackend({ wanted, running: undefined })).toEqual({
    name: wanted,
    why: 'BACKEND says so',
  });
});

test('what runs stays where it is', async () => {
  using _ = standIn({ docker: ENGINE, kind: KIND });

  expect(await chooseBackend({ wanted: '', running: 'processes' })).toEqual({
    name: 'processes',
    why: 'it runs there already',
  });
  await expect(chooseBackend({ wanted: 'kind', running: 'processes' })).rejects.toThrow(
    'The system runs on processes: "make down" first, then BACKEND=kind',
  );
});

test('an unknown backend is refused with the known ones', async () => {
  await expect(chooseBackend({ wanted: 'k3s', running: undefined })).rejects.toThrow(
    'BACKEND is "k3s": expected processes, kind, kubeconfig',
  );
});
