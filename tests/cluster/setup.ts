import fs from 'node:fs';
import path from 'node:path';

import type { TestProject } from 'vitest/node';
import { createCluster } from '../../deploy/local/cluster/cluster.ts';
import cancelOnInterrupt from '../cancel-on-interrupt.ts';
import { plainError } from '../plain-error.ts';
import { readSettings } from './settings.ts';

/** Kinds of objects that the tests create. */
const KINDS = ['namespaces', 'deployments.apps', 'secrets', 'networkpolicies'];

/**
 * Global setup of Vitest: checks the settings and the cluster.
 *
 * @throws {Error} in one line that names the setting to change
 */
export default async function setup(project: TestProject): Promise<void> {
  try {
    readSettings(process.env);
    requireFiles(process.env.ONLY?.split(',') ?? []);
    await requireCluster(process.env.E2E_CONTEXT ?? '');
  } catch (error) {
    throw plainError((error as Error).message);
  }
  cancelOnInterrupt(project);
}

function requireFiles(names: readonly string[]): void {
  const known = fs
    .readdirSync(import.meta.dirname)
    .filter((file) => file.endsWith('.test.ts') && file !== 'kind.test.ts')
    .map((file) => path.basename(file, '.test.ts'));
  const unknown = names.find((name) => name !== '' && !known.includes(name));
  if (unknown) throw new Error(`ONLY names "${unknown}": expected ${known.join(', ')}`);
}

/** Refuses a cluster that the caller has not named: KUBECONFIG may select another one than expected. */
async function requireCluster(named: string): Promise<void> {
  const { kubectl } = createCluster(AbortSignal.timeout(30_000));
  const current = (await kubectl(['config', 'current-context'])).trim();
  if (named !== current) {
    throw new Error(
      `E2E_CONTEXT is "${named}", and the current context of KUBECONFIG is "${current}": ` +
        `to test on that cluster, run make e2e E2E_CONTEXT='${current}'`,
    );
  }
  try {
    await kubectl(['get', '--raw', '/readyz']);
  } catch (error) {
    const { name, message } = error as Error;
    const reason = name === 'TimeoutError' ? 'no response in 30 s' : message.split('\n').at(-1);
    throw new Error(`Cannot reach a cluster: ${reason}; set KUBECONFIG`);
  }
  for (const kind of KINDS) {
    const allowed = await kubectl(['auth', 'can-i', 'create', kind, '-A']).catch(() => 'no');
    if (allowed.trim() !== 'yes') {
      throw new Error(`Cannot start: the user of KUBECONFIG may not create ${kind}`);
    }
  }
}
