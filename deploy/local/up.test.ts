import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { expect, test } from 'vitest';

const PROGRAM = path.join(import.meta.dirname, 'up.ts');

test.each([
  [['--without', 'v3'], {}, 'WITHOUT must be v1, got "v3"'],
  [['--without', 'v1,v2'], {}, 'WITHOUT must be v1, got "v1,v2"'],
  [['--port', '80'], {}, 'PORT must be an integer from 1024 to 60000, got "80"'],
  [[], { V1_SUNSET: '2026-02-30' }, 'V1_SUNSET must be a day such as 2027-12-31, got "2026-02-30"'],
  [[], { BODY_LIMIT: '0' }, 'BODY_LIMIT must be an integer from 1 to 67108864, got "0"'],
])(
  'make up with %j and %j stops and starts nothing, and fails in one line',
  (args, variables, message) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...variables },
    });

    expect({ status, stdout, stderr }).toEqual({ status: 1, stdout: '', stderr: `${message}\n` });
  },
);

test.each(['nonsense', '', 'users,catalog', 'constructor'])(
  'make dev SERVICE="%s" starts and stops nothing, and fails in one line',
  (service) => {
    const args = [path.join(import.meta.dirname, 'dev.ts'), '--service', service];

    const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });

    expect({ status, stdout, stderr }).toEqual({
      ...{ status: 1, stdout: '' },
      stderr: `SERVICE must be users or catalog or reports, got "${service}"\n`,
    });
  },
);
