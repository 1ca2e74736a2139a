import { expect, test } from 'vitest';

import { merge } from './release.ts';

test('values go over others as deep as both have them', () => {
  const under = { users: { replicas: 2, config: { LOG_LEVEL: 'info' } }, edge: { replicas: 2 } };

  const merged = merge(under, { users: { config: { TRUST_PROXY: 2 } } }, { edge: { replicas: 3 } });

  expect(merged).toEqual({
    users: { replicas: 2, config: { LOG_LEVEL: 'info', TRUST_PROXY: 2 } },
    edge: { replicas: 3 },
  });
});

test('a list takes the place of another', () => {
  expect(merge({ from: [1, 2] }, { from: [3] })).toEqual({ from: [3] });
});
