import fs from 'node:fs';
import path from 'node:path';

import type { ProcessPlan } from './process.ts';
import { planReplica, type Replica, type ReplicaOptions } from './system.ts';

const ROOT = path.resolve(import.meta.dirname, '../../..');
/** Runs a program again after each change: `npm run dev` of a new service uses it too. */
const DEV = path.join(ROOT, 'framework/create/template/dev.ts');

/** How to run `replica` from the source of its service, and again after each change of it or of the framework. */
export function planDevelopment(replica: Replica, options: ReplicaOptions): ProcessPlan {
  const plan = planReplica(replica, options);
  const source = path.join(ROOT, 'services', replica.service, 'src');
  const framework = fs.globSync('framework/*/src', { cwd: ROOT });
  const others = [...framework, 'package-lock.json'];
  const watched = [source, ...others.map((name) => path.join(ROOT, name))];
  return {
    ...plan,
    args: [DEV, ...watched, '--', path.join(source, 'main.ts')],
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
