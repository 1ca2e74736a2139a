import { setTimeout as sleep } from 'node:timers/promises';

import { type Application, type Logger, listen } from 'fw';

import type { ServiceConfig } from './config.ts';
import { createDrain } from './drain.ts';
import { type Check, createHealthApp } from './health.ts';
import { createLogger } from './logging.ts';
import type { ServiceEdge } from './service-app.ts';

/** One service, ready to be listened for. */
export interface Service {
  readonly app: Application;
  /** What the service cannot do without, by name. Default: nothing. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Closes what the service holds open, once nothing is in flight any more. */
  close?(): Promise<void>;
}

/** How a service comes to be: from its configuration, with what its process gives it. */
export interface ServiceDefinition<Config extends ServiceConfig> {
  readonly name: string;
  readConfig(env: NodeJS.ProcessEnv): Config;
  start(config: Config, edge: ServiceEdge): Service | Promise<Service>;
}

/** How long a proxy's open connections are still served once the port is closed. */
const LINGER_MS = 500;

/** From the first signal to the end; Kubernetes and `docker stop` wait no less than 10 s. */
const DRAIN_TIMEOUT_MS = 9_500;

/**
 * Runs a service as this process: starts it, serves it and its health until SIGTERM or SIGINT, then
 * drains. A failure to start is one line on standard error and exit code 1; a second signal ends the
 * process at once.
 */
export async function runService<Config extends ServiceConfig>(
  definition: ServiceDefinition<Config>,
): Promise<void> {
  const logger = createLogger(definition.name);
  // Whoever reads the log may go away; that is no reason to stop serving.
  process.stdout.on('error', () => {});
  try {
    await serve(definition, logger);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`Cannot run ${definition.name}: ${messageOf(error)}\n`);
    process.exit(1);
  }
}

async function serve<Config extends ServiceConfig>(
  { readConfig, start }: ServiceDefinition<Config>,
  logger: Logger,
): Promise<void> {
  const toldToEnd = nextSignal();
  const config = readConfig(process.env);
  const drain = createDrain();
  const includeStack = config.NODE_ENV === 'development';
  const edge = { logger, drain, trustProxy: config.TRUST_PROXY, includeStack };

  const service = await start(config, edge);
  const server = await listen(service.app, { host: config.HOST, port: config.PORT });
  const health = createHealthApp({ checks: service.checks ?? {}, drain, logger });
  await listen(health, { host: config.HOST, port: config.HEALTH_PORT });

  const signal = await toldToEnd;
  logger.info(`Draining on ${signal}`);
  const deadline = setTimeout(() => {
    logger.warn('Requests were still in flight at the end of draining');
    process.exit(1);
  }, DRAIN_TIMEOUT_MS);
  drain.begin();
  // Whoever balances the load takes a moment to notice; until then requests are still welcome.
  await sleep(config.DRAIN_DELAY_MS);
  await server.close({ lingerMs: LINGER_MS });
  await service.close?.();
  clearTimeout(deadline);
  logger.info('Drained');
}

/** The signal to end. Node as process 1 has no default for either, so both are handled from the start. */
function nextSignal(): Promise<NodeJS.Signals> {
  return new Promise((resolve) => {
    let isFirst = true;
    const end = (signal: NodeJS.Signals) => {
      if (!isFirst) process.exit(1);
      isFirst = false;
      resolve(signal);
    };
    process.on('SIGTERM', end).on('SIGINT', end);
  });
}

/** What `error` says, on one line. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
