import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { runProgram } from '../deploy/local/cluster/program.ts';
import { ensureTool } from './programs.ts';

const root = path.resolve(import.meta.dirname, '..');
const given = { REGISTRY: 'registry.example.org/fw', TAG: '0.1.0', ALLOW_DIRTY: '1' };

test.each([
  [{ REGISTRY: '' }, 'REGISTRY is missing: expected a registry and a path'],
  [
    { REGISTRY: 'https://registry.example.org' },
    'REGISTRY is "https://registry.example.org": expected',
  ],
  [{ REGISTRY: 'fw' }, 'REGISTRY is "fw": expected'],
  [{ TAG: '' }, 'TAG is missing: expected a version, such as 0.1.0'],
  [{ TAG: 'v1' }, 'TAG is "v1": expected a version, such as 0.1.0'],
  [{}, 'COSIGN_KEY is missing: expected the file of a private key'],
  [{ COSIGN_KEY: 'absent.key' }, 'COSIGN_KEY is "absent.key": there is no such file'],
  [
    { COSIGN_KEY: 'package.json', DOCKER_HOST: 'tcp://127.0.0.1:1' },
    'Cannot reach the Docker engine: ',
  ],
])('make publish with %o is rejected in one line', async (change, message) => {
  const env = {
    ...process.env,
    COSIGN_KEY: '',
    ACTIONS_ID_TOKEN_REQUEST_URL: '',
    ...given,
    ...change,
  };

  const run = runProgram('tools/publish.sh', [], { cwd: root, env });

  await expect(run).rejects.toThrow(`Cannot run publish.sh: ${message}`);
});

test('the workflows are valid', async () => {
  const folder = path.join(root, '.github/workflows');
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name));

  await runProgram(ensureTool('actionlint'), files, { cwd: root });
});

test('no tracked file contains the address of a public registry', async () => {
  const packages =
    'https?://([a-z0-9-]+[.])*(registry|npm|proxy|pypi|crates|repo|deb)[.][a-z0-9.-]+';
  const images = '(^|[^a-z0-9.-])(ghcr|docker|quay)[.]io';
  const args = ['grep', '--extended-regexp', '--only-matching', '-I', '-e', packages, '-e', images];

  const found = await runProgram('git', [...args, '--', ':!tools/publish.test.ts'], { cwd: root });

  expect(
    found
      .trim()
      .split('\n')
      .filter((line) => !line.includes('.example.org')),
  ).toEqual([]);
});
