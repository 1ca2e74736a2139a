import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

const PROGRAM = path.join(import.meta.dirname, 'up.ts');

test.each([
  [['--without', 'v3'], 'WITHOUT must be v1, got "v3"\n'],
  [['--without', 'v1,v2'], 'WITHOUT must be v1, got "v1,v2"\n'],
  [['--without', 'v2'], 'WITHOUT must be v1, got "v2"\n'],
  [['--port', '80'], 'PORT must be an integer from 1024 to 60000, got "80"\n'],
])('make up with %j starts nothing and fails in one line', (args, message) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
    encoding: 'utf8',
  });

  expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: message });
});

test.each([
  ['V1_SUNSET', 'banana', 'must be a day such as 2027-12-31'],
  ['V1_SUNSET', '2026-02-30', 'must be a day such as 2027-12-31'],
  ['WITHOUT_VERSION', 'v2', 'must be one of v1'],
  ['BODY_LIMIT', '0', 'must be an integer from 1 to 67108864'],
])('make up with %s=%s stops nothing and fails in one line', (name, value, reason) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM], {
    encoding: 'utf8',
    env: { ...process.env, [name]: value },
  });

  expect({ status, stdout, stderr }).toEqual({
    status: 1,
    stdout: '',
    stderr: `${name} ${reason}, got "${value}"\n`,
  });
});
