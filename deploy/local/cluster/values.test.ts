import { expect, test } from 'vitest';

import { merge } from './values.ts';

test('merge overrides values at any depth', () => {
  const under = {
    users: { replicaCount: 2, config: { LOG_LEVEL: 'info' } },
    edge: { replicaCount: 2 },
  };

  const merged = merge(
    under,
    { users: { config: { TRUST_PROXY: 2 } } },
    { edge: { replicaCount: 3 } },
  );

  expect(merged).toEqual({
    users: { replicaCount: 2, config: { LOG_LEVEL: 'info', TRUST_PROXY: 2 } },
    edge: { replicaCount: 3 },
  });
});

test('merge replaces a list by a list', () => {
  expect(merge({ from: [1, 2] }, { from: [3] })).toEqual({ from: [3] });
});
