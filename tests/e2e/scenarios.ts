import type { Scenario } from './scenario.ts';
import { autoscaling } from './scenarios/autoscaling.ts';
import { charts } from './scenarios/charts.ts';
import { database } from './scenarios/database.ts';
import { limits } from './scenarios/limits.ts';
import { makeUp } from './scenarios/make-up.ts';
import { migrations } from './scenarios/migrations.ts';
import { network } from './scenarios/network.ts';
import { node } from './scenarios/node.ts';
import { platform } from './scenarios/platform.ts';
import { readme } from './scenarios/readme.ts';
import { rollout, withoutDrain } from './scenarios/rollout.ts';

/** Everything that has to hold on a cluster, what others rest upon first. */
export const SCENARIOS: readonly Scenario[] = [
  charts,
  platform,
  readme,
  makeUp,
  rollout,
  withoutDrain,
  limits,
  database,
  network,
  migrations,
  autoscaling,
  node,
];
