import { setTimeout as sleep } from 'node:timers/promises';

import { type Application, type Logger, listen } from 'fw';
import type { ServiceEdge } from '../app/service-app.ts';
import type { AnyVariables } from '../config/describe-variables.ts';
import { type ConfigRule, readConfig, type Variables } from '../config/read-config.ts';
import { requireDrainTime, type ServiceConfig } from '../config/service-variables.ts';
import type { Check } from '../health/check.ts';
import { createHealth } from '../health/health.ts';
import { openLogger, type ServiceLogger } from '../logging/logging.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { startTracing } from '../tracing/start-tracing.ts';
import { type Command, readCommandLine, UsageError } from './command-line.ts';
import { createDrain } from './drain.ts';
import { createMigrateCommand, type MigratableStore } from './migrate-command.ts';

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
  /** What the service is for: half a sentence. */
  readonly summary: string;
  /** `serviceVariables` and the service's own. */
  readonly variables: Variables<Config>;
  /** What must hold between variables. Default: nothing. */
  readonly rule?: ConfigRule<Config>;
  start(config: Config, edge: ServiceEdge): Service | Promise<Service>;
  /** Opens the store for the command `migrate`, which closes it. Default: no such command. */
  openStore?(
    config: Config,
    tools: { readonly logger: Logger },
  ): MigratableStore | Promise<MigratableStore>;
  /** What else the program can do, by the name of its command. */
  readonly commands?: Readonly<Record<string, Command<Config>>>;
}

/**
 * How long idle connections are still served once the port is closed. A proxy that drops its own sooner
 * never writes to one that is closed here; one that does not loses what it writes at that moment.
 */
const LINGER_MS = { behindProxy: 5_000, alone: 500 };

/** The part of `DRAIN_TIMEOUT_MS` that is reserved for closing stores: a tenth, at most so long. */
const MAX_RESERVE_MS = 1_000;

/**
 * Runs a service as this process, as its command line says: serves until SIGTERM or SIGINT and then
 * drains; or runs a command. What stands in the way of it is one line on standard error and exit
 * code 1, or 2 for a command that does not exist; a second signal ends the process at once.
 */
export async function runService<Config extends ServiceConfig>(
  definition: ServiceDefinition<Config>,
): Promise<void> {
  try {
    process.exit(await run(definition, process.argv.slice(2)));
  } catch (error) {
    const prefix = error instanceof UsageError ? '' : `Cannot run ${definition.name}: `;
    process.stderr.write(`${prefix}${messageOf(error)}\n`);
    process.exit(error instanceof UsageError ? 2 : 1);
  }
}

/** Resolves with the exit code. */
async function run<Config extends ServiceConfig>(
  definition: ServiceDefinition<Config>,
  args: readonly string[],
): Promise<number> {
  const commands = commandsOf(definition);
  const variables: AnyVariables = definition.variables;
  const request = readCommandLine({ ...definition, variables, commands }, args);
  if (request.kind === 'print') {
    process.stdout.write(request.text);
    return 0;
  }
  const stop = onSignal();
  const config = readConfig(definition.variables, process.env, (read) => [
    ...requireDrainTime(read),
    ...(definition.rule?.(read) ?? []),
  ]);
  const { LOG_LEVEL: level, LOG_FORMAT: format } = config;
  const logger = await openLogger(definition.name, { level, format });
  process.on('uncaughtException', (error) => {
    logger.error('Cannot go on after an error nobody caught', error);
    process.exit(1);
  });
  if (request.kind === 'serve') return serve(definition, config, { logger, stop });
  const tools = { logger, signal: stop };
  return (await commands[request.name]?.run(config, request.args, tools)) ?? 0;
}

function commandsOf<Config extends ServiceConfig>({
  openStore,
  commands,
}: ServiceDefinition<Config>): Readonly<Record<string, Command<Config>>> {
  if (!openStore) return { ...commands };
  return { migrate: createMigrateCommand(openStore), ...commands };
}

/** Resolves with the exit code. */
async function serve<Config extends ServiceConfig>(
  { name, start }: ServiceDefinition<Config>,
  config: Config,
  { logger, stop }: { readonly logger: ServiceLogger; readonly stop: AbortSignal },
): Promise<number> {
  const drain = createDrain();
  let drainEndMs = Number.POSITIVE_INFINITY;
  const stopped = new Promise<void>((resolve) => {
    stop.addEventListener('abort', () => {
      logger.info(`Draining on ${stop.reason}`);
      drain.begin();
      drainEndMs = performance.now() + config.DRAIN_TIMEOUT_MS;
      setTimeout(() => {
        logger.warn(INCOMPLETE);
        process.exit(1);
      }, config.DRAIN_TIMEOUT_MS).unref();
      resolve();
    });
  });
  const metrics = createMetrics({ hasProcessMetrics: true });
  const health = createHealth({ drain, logger, metrics: metrics.register });
  await listen(health.app, { host: config.HOST, port: config.HEALTH_PORT });
  const endpoint = config.OTEL_EXPORTER_OTLP_ENDPOINT;
  const tracing = endpoint ? await startTracing({ service: name, endpoint }) : undefined;
  const service = await start(config, {
    name,
    logger,
    drain,
    metrics,
    tracing,
    trustProxy: config.TRUST_PROXY,
    includeStack: config.NODE_ENV === 'development',
    shedding: {
      maxInFlight: config.MAX_IN_FLIGHT,
      maxEventLoopLagMs: config.MAX_EVENT_LOOP_LAG_MS,
    },
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  });
  let isComplete = true;
  // Told to end while it started: nobody has been sent here yet.
  if (!drain.isDraining) {
    const server = await listen(service.app, {
      host: config.HOST,
      port: config.PORT,
      headersTimeoutMs: Math.min(config.HEADERS_TIMEOUT_MS, config.BODY_TIMEOUT_MS),
      requestTimeoutMs: config.BODY_TIMEOUT_MS,
    });
    health.begin(service.checks ?? {});
    await stopped;
    // Whoever balances the load takes a moment to notice; until then requests are still welcome.
    await sleep(config.DRAIN_DELAY_MS);
    // Without a delay there is nobody who balances load, and no proxy to wait for.
    const lingerMs = config.DRAIN_DELAY_MS > 0 ? LINGER_MS.behindProxy : LINGER_MS.alone;
    const reserveMs = Math.min(MAX_RESERVE_MS, config.DRAIN_TIMEOUT_MS / 10);
    const closeEndMs = drainEndMs - reserveMs;
    const timeoutMs = Math.max(1, closeEndMs - performance.now());
    await server.close({ lingerMs: Math.min(lingerMs, timeoutMs / 2), timeoutMs });
    isComplete = performance.now() < closeEndMs;
  }
  await service.close?.();
  await tracing?.close();
  if (isComplete) logger.info('Drained');
  else logger.warn(INCOMPLETE);
  return isComplete ? 0 : 1;
}

const INCOMPLETE = 'Requests were still in flight at the end of draining';

/**
 * Aborts, with its name, on the first signal to end; a second one ends the process. Node as process 1
 * has no default for either, so both are handled from the start.
 */
function onSignal(): AbortSignal {
  const stop = new AbortController();
  const end = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(1);
    stop.abort(signal);
  };
  process.on('SIGTERM', end).on('SIGINT', end);
  return stop.signal;
}

/** What `error` says, on one line. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
