import { expect, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { foldersOf } from '../state.ts';
import { environmentOf } from './system.ts';

const options = { folders: foldersOf('/fw'), edgePort: 8080 };

test('a service gets the variables of make up that it declares, except addresses and ports', () => {
  const env = {
    ...{ LOG_LEVEL: 'warn', DRAIN_DELAY_MS: '500', RATE_LIMIT_FREE: '7', SHELL: 'sh' },
    ...{ PORT: '8190', HOST: 'laptop', NODE_ENV: 'test', USERS_URL: 'http://elsewhere' },
  };

  const variables = environmentOf('reports', { ...options, env });

  expect(variables).toMatchObject({
    ...{ LOG_LEVEL: 'warn', DRAIN_DELAY_MS: '500', RATE_LIMIT_FREE: '7' },
    ...{ HOST: '127.0.0.1', NODE_ENV: 'production', USERS_URL: 'http://127.0.0.1:8080' },
  });
  for (const name of ['SHELL', 'PORT']) expect(variables).not.toHaveProperty(name);
  expect(environmentOf('users', { ...options, env })).not.toHaveProperty('RATE_LIMIT_FREE');
});

test.each([{ JWT_SECRET: 'a'.repeat(32) }, { JWT_JWKS_URL: 'https://keys.example' }])(
  'reports verifies tokens with %j instead of the secret of make up',
  (env) => {
    const variables = environmentOf('reports', { ...options, env });

    expect(variables).toMatchObject(env);
    expect(variables).not.toHaveProperty('JWT_SECRET_FILE');
  },
);

test.each([{}, { JWT_SECRET: 'a'.repeat(32), AUTH: 'none' }])(
  'users and catalog get no key with %j',
  (env) => {
    for (const name of ['users', 'catalog'] as const) {
      const names = Object.keys(environmentOf(name, { ...options, env }));

      expect(names.filter((each) => each.startsWith('JWT_'))).toEqual([]);
    }
  },
);

test.each(SERVICE_NAMES)(
  'with AUTH=required %s verifies tokens with the secret of make up',
  (name) => {
    const own = environmentOf(name, { ...options, env: { AUTH: 'required' } });
    const env = { AUTH: 'required', JWT_SECRET: 'a'.repeat(32) };
    const given = environmentOf(name, { ...options, env });

    expect(own.JWT_SECRET_FILE).toMatch(/jwt-secret$/);
    expect(given).toMatchObject({ JWT_SECRET: env.JWT_SECRET });
    expect(given).not.toHaveProperty('JWT_SECRET_FILE');
  },
);
