import { setTimeout as sleep } from 'node:timers/promises';

import { type Application, type Logger, listen } from 'fw';
import type { ServiceRuntime } from '../app/service-app.ts';
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

/** A started service. */
export interface Service {
  readonly app: Application;
  /** Checks of the parts that the service needs, by name. Default: none. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Closes the resources of the service; called when no request is in flight. */
  close?(): Promise<void>;
}

/** How a service is configured and started. */
export interface ServiceDefinition<Config extends ServiceConfig> {
  readonly name: string;
  /** One line for `--help`, such as `stores users`. */
  readonly summary: string;
  /** `serviceVariables` and the variables of the service. */
  readonly variables: Variables<Config>;
  /** Checks variables against each other. Default: no check. */
  readonly rule?: ConfigRule<Config>;
  /** Opens the stores and creates the application; its port is opened afterwards. */
  start(config: Config, runtime: ServiceRuntime): Service | Promise<Service>;
  /** Opens the store for the command `migrate`, which closes it. Default: there is no such command. */
  openStore?(
    config: Config,
    tools: { readonly logger: Logger },
  ): MigratableStore | Promise<MigratableStore>;
  /** Further commands of the program, by name. */
  readonly commands?: Readonly<Record<string, Command<Config>>>;
}

/**
 * How long idle connections are served after the port is closed. If the proxy closes its idle connections
 * earlier, it never sends a request on a connection that is being closed here.
 */
const LINGER_MS = { behindProxy: 5_000, alone: 500 };

/** A tenth of `DRAIN_TIMEOUT_MS`, and at most this long, is reserved for closing stores. */
const MAX_RESERVE_MS = 1_000;

/**
 * Runs a service as this process: depending on the command line, serves requests until SIGTERM or SIGINT
 * and then drains, or runs a command. A failure is one line on standard error and exit code 1, or 2 for an
 * unknown command. A second signal ends the process immediately.
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
    logger.error('Exiting after an uncaught error', error);
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
  const metrics = createMetrics({ hasProcessMetrics: true, version: config.SERVICE_VERSION });
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
    shedding: { maxInFlight: config.MAX_IN_FLIGHT },
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
  });
  let isComplete = true;
  // A signal during the start: no client has been sent here yet.
  if (!drain.isDraining) {
    const server = await listen(service.app, {
      host: config.HOST,
      port: config.PORT,
      keepAliveTimeoutMs: config.KEEP_ALIVE_TIMEOUT_MS,
      headersTimeoutMs: Math.min(config.HEADERS_TIMEOUT_MS, config.BODY_TIMEOUT_MS),
      requestTimeoutMs: config.BODY_TIMEOUT_MS,
    });
    health.begin(service.checks ?? {});
    await stopped;
    // Load balancers need a moment to notice; until then requests are accepted.
    await sleep(config.DRAIN_DELAY_MS);
    // Without a delay there is no load balancer or proxy to wait for.
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
 * Aborts on the first SIGTERM or SIGINT, with its name as the reason; a second one ends the process. Node
 * as process 1 has no default handlers, so both signals are handled from the start.
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

/** The message of `error` on one line. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.replace(/\s*\n\s*/g, ' ');
}
