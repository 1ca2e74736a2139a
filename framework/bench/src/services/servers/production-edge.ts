import {
  createDrain,
  createLogger,
  createMetrics,
  readConfig,
  type ServiceEdge,
  serviceVariables,
} from '@fw/service';

/** Behind one proxy; all else as by default, but that a busy machine is no reason to refuse. */
const VARIABLES = { TRUST_PROXY: '1', MAX_EVENT_LOOP_LAG_MS: '10000' };

/** What `runService` gives a service. */
export function productionEdge(): ServiceEdge {
  const config = readConfig(serviceVariables({ port: 0 }), VARIABLES);
  return {
    name: 'bench',
    logger: createLogger('bench'),
    metrics: createMetrics(),
    drain: createDrain(),
    trustProxy: config.TRUST_PROXY,
    shedding: {
      maxInFlight: config.MAX_IN_FLIGHT,
      maxEventLoopLagMs: config.MAX_EVENT_LOOP_LAG_MS,
    },
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  };
}
