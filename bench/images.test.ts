import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

test('without a Docker engine, one line says why the images are not measured', () => {
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [path.join(import.meta.dirname, 'main.ts'), 'images'],
    { encoding: 'utf8', env: { PATH: '/nowhere' } },
  );

  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toBe(
    '\nThe images are not measured: no Docker: install Docker Engine (https://docs.docker.com/engine/install)\n',
  );
});
