import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { buildService } from '../build/build.ts';

export { type Collector, type ReceivedSpan, startCollector } from './collector.ts';
export { type LintProblem, lintDocument } from './lint.ts';
export { quiet, recordLog } from './log.ts';
export {
  type Json,
  plantField,
  readJson,
  readNothing,
  readProblem,
  type Send,
  sendTo,
} from './responses.ts';

/** Environment variables of a process, in addition to `PATH`. */
export type Variables = Readonly<Record<string, string>>;

/** How a process ended, and its output. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/** A service in its own process, which may still be starting. */
export interface LaunchedService {
  /** Resolves once the health server listens, which is before the service has started. */
  readonly live: Promise<{ readonly healthUrl: string }>;
  /** Resolves once the service listens. */
  readonly listening: Promise<{ readonly url: string }>;
  readonly pid: number;
  /** Sends a signal to the process. */
  signal(name: NodeJS.Signals): void;
  /** Its standard output so far. */
  output(): string;
  readonly ended: Promise<Ending>;
}

/** A running service in its own process. */
export interface ServiceProcess extends Omit<LaunchedService, 'live' | 'listening'> {
  readonly url: string;
  readonly healthUrl: string;
}

/** Runs the service at `main` with the arguments `args` until it ends. */
export async function runToEnd(
  main: URL,
  variables: Variables,
  args: readonly string[] = [],
): Promise<Ending> {
  const bundle = await bundleOf(main);
  return watch(spawnNode([bundle, ...args], variables)).ended;
}

/**
 * Starts the service at `main` on free ports; resolves once it listens.
 *
 * @throws {Error} with its output, if it ends before that
 */
export async function startService(main: URL, variables: Variables = {}): Promise<ServiceProcess> {
  const { live, listening, ...service } = await launchService(main, variables);
  const [{ healthUrl }, { url }] = await Promise.all([live, listening]);
  return { url, healthUrl, ...service };
}

/** Starts the service at `main`, or a command of it, on free ports without waiting for it. */
export async function launchService(
  main: URL,
  variables: Variables = {},
  args: readonly string[] = [],
): Promise<LaunchedService> {
  const bundle = await bundleOf(main);
  const child = spawnNode([bundle, ...args], { PORT: '0', HEALTH_PORT: '0', ...variables });
  const { ended, output } = watch(child);
  const early = ended.then(({ stdout, stderr }): never => {
    throw new Error(`The service ended before it listened: ${stdout}${stderr}`);
  });
  const logged = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const [, url] = pattern.exec(output()) ?? [];
      if (url) return url;
      await Promise.race([once(child.stdout ?? child, 'data'), early]);
    }
  };
  const live = logged(/"message":"Health: Listening on (http[^"]+)"/).then((healthUrl) => ({
    healthUrl,
  }));
  const listening = logged(/"message":"Listening on (http[^"]+)"/).then((url) => ({ url }));
  for (const promise of [early, live, listening]) promise.catch(() => {});
  const { pid = 0 } = child;
  return { live, listening, pid, signal: (name) => child.kill(name), output, ended };
}

const bundles = new Map<string, Promise<string>>();

/**
 * Bundles the service at `main` once per test run, because deployments run the bundle. It is written to
 * `dist`, from where relative paths to data files are the same as from `src`.
 */
async function bundleOf(main: URL): Promise<string> {
  const entry = fileURLToPath(main);
  const bundle = bundles.get(entry) ?? bundleForTests(entry);
  bundles.set(entry, bundle);
  return bundle;
}

async function bundleForTests(entry: string): Promise<string> {
  const name = path.basename(entry, '.ts');
  const outfile = path.join(path.dirname(entry), `../dist/${name}-under-test.js`);
  await buildService({ entry, outfile });
  return outfile;
}

/** Only `PATH` is inherited, so that every variable has its default. */
function spawnNode(args: readonly string[], variables: Variables): ChildProcess {
  return spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function watch(child: ChildProcess): { ended: Promise<Ending>; output: () => string } {
  const startedMs = performance.now();
  const written = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.setEncoding('utf8').on('data', (text: string) => {
      written[stream] += text;
    });
  }
  const ended = new Promise<Ending>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, ...written, durationMs: performance.now() - startedMs });
    });
  });
  return { ended, output: () => written.stdout };
}
