import { expect, test } from 'vitest';

import { requireContext } from './context.ts';

test.each([
  [{}, 'E2E_CONTEXT is not set'],
  [{ E2E_CONTEXT: '' }, 'E2E_CONTEXT is not set'],
  [{ E2E_CONTEXT: 'trial' }, 'E2E_CONTEXT is "trial"'],
])('the cluster of another context than %j is refused with the command', (env, given) => {
  expect(() => requireContext('production', env)).toThrow(
    `${given}, and the current context of KUBECONFIG is "production": to test on that cluster, run make e2e E2E_CONTEXT='production'`,
  );
});

test('the cluster of the named context is accepted', () => {
  requireContext('trial', { E2E_CONTEXT: 'trial' });
});
