/**
 * Refuses a cluster that the caller has not named: KUBECONFIG may select another one than expected.
 *
 * @throws {Error} that names the current context and the command, unless E2E_CONTEXT is that context
 */
export function requireContext(current: string, { E2E_CONTEXT }: NodeJS.ProcessEnv): void {
  if (E2E_CONTEXT === current) return;
  const given = E2E_CONTEXT ? `E2E_CONTEXT is "${E2E_CONTEXT}"` : 'E2E_CONTEXT is not set';
  throw new Error(
    `${given}, and the current context of KUBECONFIG is "${current}": ` +
      `to test on that cluster, run make e2e E2E_CONTEXT='${current}'`,
  );
}
