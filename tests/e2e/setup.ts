import fs from 'node:fs';
import path from 'node:path';

import type { TestProject } from 'vitest/node';
import { createCluster } from '../../deploy/local/cluster/cluster.ts';
import cancelOnInterrupt from '../cancel-on-interrupt.ts';
import { plainError } from '../plain-error.ts';
import { requireContext } from './context.ts';
import { readSettings } from './settings.ts';

const SCENARIOS = path.join(import.meta.dirname, 'scenarios');

/** Kinds of objects that the scenarios create. */
const KINDS = ['namespaces', 'deployments.apps', 'secrets', 'networkpolicies'];

/**
 * Global setup of Vitest: checks the settings and the cluster.
 *
 * @throws {Error} in one line that names the setting to change
 */
export default async function setup(project: TestProject): Promise<void> {
  try {
    readSettings(process.env);
    requireScenarios(process.env.ONLY?.split(',') ?? []);
    await requireCluster();
  } catch (error) {
    throw plainError((error as Error).message);
  }
  cancelOnInterrupt(project);
}

function requireScenarios(names: readonly string[]): void {
  const known = fs.readdirSync(SCENARIOS).map((file) => path.basename(file, '.test.ts'));
  const unknown = names.find((name) => name !== '' && !known.includes(name));
  if (unknown) throw new Error(`ONLY names "${unknown}": expected ${known.join(', ')}`);
}

async function requireCluster(): Promise<void> {
  const { kubectl } = createCluster(AbortSignal.timeout(30_000));
  requireContext((await kubectl(['config', 'current-context'])).trim(), process.env);
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
