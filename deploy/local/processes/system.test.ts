import { expect, test } from 'vitest';

import { passedOn, replicasOf, upstreamsOf } from './system.ts';

test('the ports of the replicas follow the edge port, health ports are 1,000 higher', () => {
  expect(replicasOf(8080).slice(0, 5)).toEqual([
    { name: 'users-1', service: 'users', port: 8081, healthPort: 9081 },
    { name: 'users-2', service: 'users', port: 8082, healthPort: 9082 },
    { name: 'catalog-1', service: 'catalog', port: 8083, healthPort: 9083 },
    { name: 'catalog-2', service: 'catalog', port: 8084, healthPort: 9084 },
    { name: 'reports-1', service: 'reports', port: 8085, healthPort: 9085 },
  ]);
});

test('upstreamsOf groups the ports of the replicas by service', () => {
  expect(upstreamsOf(replicasOf(8080))).toMatchObject({
    users: [8081, 8082],
    catalog: [8083, 8084],
    reports: [8085],
  });
});

test('a service gets those variables of make up that it knows', () => {
  const env = {
    LOG_LEVEL: 'warn',
    REQUEST_TIMEOUT_MS: '60000',
    BODY_LIMIT: '2097152',
    SHELL: 'sh',
  };

  expect(passedOn('users', env)).toEqual({
    LOG_LEVEL: 'warn',
    REQUEST_TIMEOUT_MS: '60000',
    BODY_LIMIT: '2097152',
  });
  expect(passedOn('reports', env)).toEqual({ LOG_LEVEL: 'warn', REQUEST_TIMEOUT_MS: '60000' });
});
