import path from 'node:path';
import { fileURLToPath } from 'node:url';

import type { ProcessPlan } from './process.ts';
import { planReplica, type Replica, type ReplicaOptions } from './system.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
const DECORATORS = fileURLToPath(new URL('../decorators.ts', import.meta.url));
const FLAGS = ['--watch', '--watch-preserve-output'];

/** How to run `replica` from the source of its service: Node restarts it after each change. */
export function planDevelopment(replica: Replica, options: ReplicaOptions): ProcessPlan {
  const plan = planReplica(replica, options);
  const main = path.join(ROOT, `services/${replica.service}/src/main.ts`);
  return {
    ...plan,
    args: [...FLAGS, '--import', DECORATORS, main],
    env: {
      ...plan.env,
      NODE_ENV: 'development',
      LOG_FORMAT: 'pretty',
      // It also keeps sources without their types: a start takes half the time.
      NODE_COMPILE_CACHE: path.join(ROOT, '.local/compile-cache'),
    },
    fingerprint: 'development',
  };
}
