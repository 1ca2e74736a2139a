import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  aFunction,
  anObject,
  anObjectWith,
  aString,
  check,
  readOptions,
  required,
} from '@fw/core/options';
import {
  type Application,
  type Context,
  type ListeningServer,
  type Logger,
  listen,
  type TlsOptions,
} from 'fw';
import type { ServiceRuntime } from '../app/service-app.ts';
import { createStallWatch } from '../app/stall-watch.ts';
import {
  type ConfigRule,
  readConfig,
  suspectNames,
  type Variables,
} from '../config/read-config.ts';
import {
  CLOSE_STORES_MS,
  requireDrainTime,
  type ServiceConfig,
} from '../config/service-variables.ts';
import type { AnyVariables } from '../config/variables.ts';
import { type Check, createHealth } from '../health/health.ts';
import type { ServiceLogger } from '../logging/logging.ts';
import { openLogger } from '../logging/open-logger.ts';
import { splitPaths } from '../logging/redact.ts';
import { createMetrics } from '../metrics/metrics.ts';
import type { Tracing } from '../tracing/tracing.ts';
import { type Command, OWN_COMMANDS, readCommandLine, UsageError } from './command-line.ts';
import { describeFailure, ServiceCodeError } from './describe-failure.ts';
import { createMigrateCommand, type MigratableStore } from './migrate-command.ts';

/** A started service. */
export interface Service {
  readonly app: Application;
  /** Checks of the parts that the service needs, by name. Default: none. */
  readonly checks?: Readonly<Record<string, Check>>;
  /** Serves HTTPS with this certificate. Default: HTTP. */
  readonly tls?: TlsOptions;
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
  readonly rule?: ConfigRule<NoInfer<Config>>;
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

/** In development, requests in flight may take this long: a restart waits for the end of the process. */
const DEVELOPMENT_CLOSE_MS = 100;

/**
 * Runs a service as this process: depending on the command line, serves requests until SIGTERM or SIGINT
 * and then drains, or runs a command. A failure is one line on standard error and exit code 1, or 2 for an
 * unknown command; an error of the service's own code names the place, and in development its stack follows.
 * A second signal ends the process immediately. After an uncaught error, requests in flight have five
 * seconds to finish, and the exit code is 1.
 */
export async function runService<Config extends ServiceConfig>(
  definition: ServiceDefinition<Config>,
): Promise<void> {
  try {
    requireNode();
    await inServiceCode(() => checkDefinition(definition));
    process.exit(await run(definition, process.argv.slice(2)));
  } catch (error) {
    const isUsage = error instanceof UsageError;
    const prefix = isUsage ? '' : `Cannot run ${definition?.name ?? 'the service'}: `;
    process.stderr.write(`${prefix}${describeFailure(error)}`);
    process.exit(isUsage ? 2 : 1);
  }
}

/** @throws {Error} on a Node without `node:sqlite` and other modules that services need */
function requireNode(): void {
  if (Number.parseInt(process.versions.node, 10) >= 24) return;
  throw new Error(`expected Node 24 or later, got ${process.versions.node}`);
}

/** @throws {TypeError} if a member is unknown, missing or invalid */
function checkDefinition<Config extends ServiceConfig>(definition: ServiceDefinition<Config>) {
  return readOptions('runService()', definition, {
    name: required(aString),
    summary: required(aString),
    variables: required(anObject),
    rule: aFunction,
    start: required(aFunction),
    openStore: aFunction,
    commands: check(
      `an object without ${OWN_COMMANDS.join(', ')}, which every service has`,
      (value) => anObject.accepts(value) && !OWN_COMMANDS.some((name) => name in (value as object)),
    ),
  });
}

/** @throws {TypeError} if a member is unknown, missing or invalid */
function checkService(service: Service) {
  return readOptions('the result of start()', service, {
    app: required(
      anObjectWith('the application, which createServiceApp(runtime) returns', ['handle', 'ready']),
    ),
    checks: check(
      'an object of functions',
      (value) => anObject.accepts(value) && Object.values(value as object).every(aFunction.accepts),
    ),
    tls: anObject,
    close: aFunction,
  });
}

/** Calls a function of the service. */
async function inServiceCode<T>(call: () => T | Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw error instanceof UsageError ? error : new ServiceCodeError(error);
  }
}

/** Resolves with the exit code. */
async function run<Config extends ServiceConfig>(
  definition: ServiceDefinition<Config>,
  args: readonly string[],
): Promise<number> {
  const variables: AnyVariables = definition.variables;
  const commands: Readonly<Record<string, Command<Config>>> = {
    ...(definition.openStore && { migrate: createMigrateCommand(definition.openStore) }),
    ...definition.commands,
  };
  const request = readCommandLine({ ...definition, variables, commands }, args);
  if (request.kind === 'print') {
    process.stdout.write(request.text);
    return 0;
  }
  const stop = onSignal();
  let logger: ServiceLogger | undefined;
  const config = readConfig(
    definition.variables,
    process.env,
    (read) => [...requireDrainTime(read), ...(definition.rule?.(read) ?? [])],
    (problem) => logger?.warn(problem),
  );
  process.env.NODE_ENV = config.NODE_ENV; // unset, core would take it for development
  const { LOG_LEVEL: level, LOG_FORMAT: format } = config;
  const redact = splitPaths(config.LOG_REDACT);
  logger = await openLogger(definition.name, { level, format, redact });
  for (const warning of suspectNames(variables, process.env)) logger.warn(warning);
  const crash = onUncaughtError(logger);
  if (request.kind === 'serve') return serve(definition, config, { logger, stop, crash });
  const tools = { logger, signal: stop.signal };
  return (await inServiceCode(() => commands[request.name]?.run(config, request.args, tools))) ?? 0;
}

/** Resolves with the exit code. */
async function serve<Config extends ServiceConfig>(
  { name, start }: ServiceDefinition<Config>,
  config: Config,
  { logger, stop, crash }: { logger: ServiceLogger; stop: AbortController; crash: Crash },
): Promise<number> {
  const drain = {
    get isDraining() {
      return stop.signal.aborted;
    },
  };
  const stopped = once(stop.signal, 'abort').then(() => {
    logger.info(`Draining on ${stop.signal.reason}`);
    exitAfter(config.DRAIN_TIMEOUT_MS, logger);
  });
  const metrics = createMetrics({
    hasProcessMetrics: true,
    service: { name, version: config.SERVICE_VERSION },
  });
  const health = createHealth({ drain, logger, metrics });
  await listen(health.app, { host: config.HOST, port: config.HEALTH_PORT });
  const tracing = await openTracing(name, config);
  const stalls = createStallWatch({ logger, metrics });
  const isDevelopment = config.NODE_ENV === 'development';
  const service = await inServiceCode(async () => {
    const started = checkService(
      await start(config, {
        name,
        logger,
        drain,
        metrics,
        tracing,
        stalls,
        trustProxy: config.TRUST_PROXY,
        includeStack: isDevelopment,
        shedding: { maxInFlight: config.MAX_IN_FLIGHT },
        bodyMemoryBytes: config.BODY_MEMORY,
        requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
      }),
    );
    await started.app.ready();
    return started;
  });
  let isComplete = true;
  // A signal during the start: no client has been sent here yet.
  if (!drain.isDraining) {
    const { app, checks = {}, tls } = service;
    const server = await listen(app, {
      host: config.HOST,
      port: config.PORT,
      keepAliveTimeoutMs: config.KEEP_ALIVE_TIMEOUT_MS,
      headersTimeoutMs: Math.min(config.HEADERS_TIMEOUT_MS, config.BODY_TIMEOUT_MS),
      requestTimeoutMs: config.BODY_TIMEOUT_MS,
      ...(tls && { tls }),
    });
    health.begin(checks);
    stalls.start();
    crash.current = stalls.current;
    crash.drain = () => stop.abort('an uncaught error');
    await stopped;
    stalls.stop();
    const limits = crash.hasHappened ? { ...config, ...CRASH_LIMITS } : config;
    if (isDevelopment) await server.close({ timeoutMs: DEVELOPMENT_CLOSE_MS });
    else isComplete = await drainServer(server, limits);
  }
  await inServiceCode(() => service.close?.());
  await tracing?.close();
  if (isComplete) logger.info('Drained');
  else logger.warn(INCOMPLETE);
  return isComplete && !crash.hasHappened ? 0 : 1;
}

/** Loads OpenTelemetry only if there is a collector. */
async function openTracing(service: string, config: ServiceConfig): Promise<Tracing | undefined> {
  if (!config.OTEL_EXPORTER_OTLP_ENDPOINT && !config.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) {
    return undefined;
  }
  const headers = config.OTEL_EXPORTER_OTLP_HEADERS; // may come from a file, which the exporter does not read
  if (headers !== undefined) process.env.OTEL_EXPORTER_OTLP_HEADERS = headers;
  const { createTracing } = await import('../tracing/otlp.ts');
  return createTracing({
    service,
    version: config.SERVICE_VERSION,
    sampler: config.OTEL_TRACES_SAMPLER,
    ratio: config.OTEL_TRACES_SAMPLER_ARG,
  });
}

/** Resolves with whether every response was sent in time: the signal to stop has just arrived. */
async function drainServer(
  server: ListeningServer,
  { DRAIN_DELAY_MS: delayMs, DRAIN_IDLE_MS: idleMs, DRAIN_TIMEOUT_MS: drainMs }: ServiceConfig,
): Promise<boolean> {
  const closeEndMs = performance.now() + drainMs - Math.min(CLOSE_STORES_MS, drainMs / 10);
  // Load balancers need a moment to notice; until then requests are accepted.
  await sleep(delayMs);
  // A proxy that closes its idle connections earlier never sends a request on one that is being closed here.
  const timeoutMs = Math.max(1, closeEndMs - performance.now());
  await server.close({ lingerMs: Math.min(idleMs, (timeoutMs * 3) / 4), timeoutMs });
  return performance.now() < closeEndMs;
}

const INCOMPLETE = 'Requests were still in flight at the end of draining';

function exitAfter(timeoutMs: number, logger: Logger): void {
  const exit = () => {
    logger.warn(INCOMPLETE);
    process.exit(1);
  };
  setTimeout(exit, timeoutMs).unref();
}

/** After an uncaught error, the process ends within five seconds, and no load balancer is waited for. */
const CRASH_LIMITS = { DRAIN_DELAY_MS: 0, DRAIN_TIMEOUT_MS: 5_000 };

/** What happens after an uncaught error. */
interface Crash {
  hasHappened: boolean;
  /** Begins the drain. Default: the process ends at once. */
  drain?: () => void;
  /** The request whose code runs, if it is known. */
  current?: () => Context | undefined;
}

/**
 * Logs uncaught errors and rejections. The first one ends the process, because its state is unknown. A
 * process that serves requests drains first: requests in flight have some seconds to finish.
 */
function onUncaughtError(logger: Logger): Crash {
  const crash: Crash = { hasHappened: false };
  process.on('uncaughtException', (error) => {
    const log = crash.current?.()?.log ?? logger;
    log.error('Exiting after an uncaught error', error);
    if (!crash.drain) process.exit(1);
    if (crash.hasHappened) return;
    crash.hasHappened = true;
    exitAfter(CRASH_LIMITS.DRAIN_TIMEOUT_MS, logger);
    crash.drain();
  });
  return crash;
}

/**
 * Aborts on the first SIGTERM or SIGINT, with its name as the reason; a second one ends the process. After an
 * uncaught error, the first one changes nothing, because the drain has already begun. Node as process 1 has no default
 * handlers, so both signals are handled from the start.
 */
function onSignal(): AbortController {
  const stop = new AbortController();
  let isRepeated = false;
  const end = (signal: NodeJS.Signals) => {
    if (isRepeated) process.exit(1);
    isRepeated = true;
    stop.abort(signal);
  };
  process.on('SIGTERM', end).on('SIGINT', end);
  return stop;
}
