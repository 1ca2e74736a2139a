import {
  createDrain,
  createLogger,
  createMetrics,
  readConfig,
  type ServiceEdge,
  serviceVariables,
} from '@fw/service';

import type { OURS } from '../contestant.ts';

/** Behind one proxy; all else as by default, but that a busy machine is no reason to refuse. */
const VARIABLES = { MAX_EVENT_LOOP_LAG_MS: '10000' };
const BARE: ServiceEdge = { trustProxy: 1 };

/** What a process gives each of our contestants. */
export const OUR_EDGES: Readonly<Record<(typeof OURS)[number], () => ServiceEdge>> = {
  fw: production,
  'fw-observed': observed,
  // What observes requests is there without an edge too: the bundle of the bare one leaves it out.
  'fw-bare': () => BARE,
};

function observed(): ServiceEdge {
  return { ...BARE, name: 'bench', logger: createLogger('bench'), metrics: createMetrics() };
}

/** What `runService` gives a service. */
function production(): ServiceEdge {
  const config = readConfig(serviceVariables({ port: 0 }), VARIABLES);
  return {
    ...observed(),
    drain: createDrain(),
    shedding: {
      maxInFlight: config.MAX_IN_FLIGHT,
      maxEventLoopLagMs: config.MAX_EVENT_LOOP_LAG_MS,
    },
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  };
}
