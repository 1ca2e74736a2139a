import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { ignoreClosedOutput } from '../local/output.ts';
import { folders } from '../local/state.ts';
import { durationOf, PROFILES, type ProfileName } from './lib/profiles.ts';
import type { Environment } from './lib/variables.ts';
import { findingsOf, type StreamCounts } from './results.ts';
import { readBase, readCredentials, requireResponse } from './target.ts';

export interface LoadOptions {
  /** The script to run: a name in `PROFILES`. */
  readonly profile: string;
  /** The address of the system, such as `http://localhost:8080`. */
  readonly base: string;
  /** The variables of README.md. Default: those of this process. */
  readonly env?: Environment;
  /** The folder with the token secret of the local system. Default: that of this checkout. */
  readonly run?: string;
  /** The folder for the HTML report, the summary and the log. Default `.local/load`. */
  readonly out?: string;
  /** Prints the output of k6. Default: to standard output. */
  readonly print?: (text: string) => void;
  /** Stops the run early; the summary then covers the requests sent so far. */
  readonly until?: AbortSignal;
}

export interface LoadResult {
  /** Whether the run was completed and every threshold was met; of `breakpoint`: whether it found the capacity. */
  readonly ok: boolean;
  readonly requests: number;
  readonly failed: number;
  /** Iterations that k6 could not start in time. */
  readonly dropped: number;
  /** The highest rate that met all objectives, in requests per second; only of `breakpoint`. */
  readonly capacity?: number;
  /** Only of `rollout`. */
  readonly stream?: StreamCounts;
  /** The file with the log of k6. */
  readonly log: string;
}

/** Exit codes of k6. */
const MET = 0;
const MISSED = 99;
const INTERRUPTED = 105;

/** A run that takes longer prints a line of progress in this interval. */
const PROGRESS_SECONDS = 20;

/** What a run needs. */
interface Prepared {
  readonly name: ProfileName;
  readonly seconds: number;
  readonly origin: string;
  readonly credentials: Environment;
}

/**
 * Checks everything that a run needs, without sending the requests of the profile.
 *
 * @throws {Error} with one line, if an option is invalid, k6 is missing or the system does not respond
 */
export async function prepareLoad(options: LoadOptions): Promise<Prepared> {
  const { profile, base, env = process.env, run = folders.run } = options;
  const { name, seconds } = readProfile(profile, env);
  const origin = readBase(base);
  const credentials = readCredentials(origin, { env, run });
  requireK6();
  await requireResponse(origin);
  return { name, seconds, origin, credentials };
}

/**
 * Runs a profile against the system at `base`.
 *
 * @throws {Error} with one line, if an option is invalid, the system does not respond or k6 fails
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { env = process.env, until } = options;
  const { out = path.join(folders.root, '.local/load') } = options;
  const { print = (text) => void process.stdout.write(text) } = options;
  const { name, seconds, origin, credentials } = await prepareLoad(options);

  const files = newFiles(out, name);
  print(`Running ${name} against ${origin} for ${seconds} s\n`);
  const child = startK6({ name, files, env: { ...env, ...credentials, BASE: origin } });
  child.stdout?.setEncoding('utf8').on('data', print);
  const stopProgress = startProgress(seconds, print);
  const code = await exitCodeOf(child, until).finally(stopProgress);

  const logged = firstProblems(files.log);
  if (logged.length > 0) print(`${logged.join('\n')}\nLog: ${path.relative('', files.log)}\n`);
  if (fs.existsSync(files.report)) print(`Report: ${path.relative('', files.report)}\n`);
  if (code === INTERRUPTED && !until?.aborted) throw new Error(`Interrupted ${name}`);
  if (![MET, MISSED, INTERRUPTED].includes(code) || !fs.existsSync(files.summary)) {
    throw new Error(`Cannot finish ${name}: k6 exited with code ${code} (see ${files.log})`);
  }
  const summary = JSON.parse(fs.readFileSync(files.summary, 'utf8'));
  const { metrics } = summary;
  const { capacity, stream, text } = findingsOf(name, metrics, env);
  print(text);
  if (capacity !== undefined) {
    fs.writeFileSync(files.summary, `${JSON.stringify({ capacity, ...summary }, undefined, 2)}\n`);
  }
  return {
    ok: capacity === undefined ? code === MET : capacity > 0,
    requests: metrics.http_reqs?.count ?? 0,
    // In a rate, k6 counts a true sample as a pass: here a failed request.
    failed: metrics.http_req_failed?.passes ?? 0,
    dropped: metrics.dropped_iterations?.count ?? 0,
    log: files.log,
    ...(capacity !== undefined && { capacity }),
    ...(stream && { stream }),
  };
}

/** The first lines of the log about anything but information, such as the users that `LEDGER` logs. */
function firstProblems(log: string): string[] {
  const lines = fs.readFileSync(log, 'utf8').split('\n');
  return lines.filter((line) => line && !line.includes(' level=info ')).slice(0, 5);
}

function readProfile(profile: string, env: Environment) {
  const names = Object.keys(PROFILES);
  if (!names.includes(profile)) {
    throw new Error(`Cannot run the profile "${profile}": expected ${names.join(', ')}`);
  }
  const name = profile as ProfileName;
  // Rejects invalid variables before k6 starts.
  return { name, seconds: durationOf(PROFILES[name](env)) };
}

/** @throws {Error} if k6 is not on the PATH or older than version 2 */
function requireK6(): void {
  const { stdout } = spawnSync('k6', ['version'], { encoding: 'utf8' });
  if (stdout === null) {
    const page = 'https://grafana.com/docs/k6/latest/set-up/install-k6';
    throw new Error(`k6 is not on the PATH: install it (${page})`);
  }
  if (/v([2-9]|\d\d)\./.test(stdout)) return;
  throw new Error(`Cannot use k6: it is "${stdout.trim()}", expected k6 v2`);
}

/** The files that a run writes. */
interface Files {
  readonly report: string;
  readonly summary: string;
  readonly log: string;
}

/** Removes the files of an earlier run. */
function newFiles(out: string, name: ProfileName): Files {
  fs.mkdirSync(out, { recursive: true });
  const newFile = (extension: string) => {
    const file = path.resolve(out, `${name}.${extension}`);
    fs.rmSync(file, { force: true });
    return file;
  };
  return { report: newFile('html'), summary: newFile('json'), log: newFile('log') };
}

function startK6({
  name,
  files,
  env,
}: {
  readonly name: ProfileName;
  readonly files: Files;
  readonly env: Environment;
}): ChildProcess {
  const flags = ['--quiet', '--no-usage-report', `--log-output=file=${files.log}`];
  const script = path.join(import.meta.dirname, `${name}.ts`);
  return spawn('k6', ['run', ...flags, `--summary-export=${files.summary}`, script], {
    env: {
      ...env,
      K6_WEB_DASHBOARD: 'true',
      // The dashboard does not listen: only its report is needed.
      K6_WEB_DASHBOARD_PORT: '-1',
      K6_WEB_DASHBOARD_PERIOD: '1s',
      K6_WEB_DASHBOARD_EXPORT: files.report,
    } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

function startProgress(seconds: number, print: (text: string) => void): () => void {
  let elapsed = 0;
  const timer = setInterval(() => {
    elapsed += PROGRESS_SECONDS;
    if (elapsed < seconds) print(`  ${elapsed} of ${seconds} s\n`);
  }, PROGRESS_SECONDS * 1_000);
  return () => clearInterval(timer);
}

/** Waits for k6, which stops gracefully on SIGTERM, and on Ctrl-C in its terminal. */
async function exitCodeOf(child: ChildProcess, until?: AbortSignal): Promise<number> {
  const ignore = () => {};
  const stop = () => void child.kill('SIGTERM');
  process.on('SIGINT', ignore).on('SIGTERM', stop);
  until?.addEventListener('abort', stop, { once: true });
  if (until?.aborted) stop();
  try {
    const [code] = await once(child, 'close');
    return code ?? 1;
  } finally {
    process.off('SIGINT', ignore).off('SIGTERM', stop);
    until?.removeEventListener('abort', stop);
  }
}

const HELP = `Usage: node deploy/k6/run.ts [--profile smoke] [--base http://localhost:8080] [--out .local/load]

Profiles: ${Object.keys(PROFILES).join(', ')}
Variables: DURATION, RATE, REQUESTS, LATENCY_FACTOR, RETRY_SECONDS, LEDGER, JWT_SECRET, TOKEN (deploy/k6/README.md)
`;

/** `node run.ts --profile smoke --base http://localhost:8080`; exits with 1 if a threshold is missed. */
if (import.meta.main) {
  ignoreClosedOutput();
  try {
    const { values } = parseArgs({
      options: {
        profile: { type: 'string', default: 'smoke' },
        base: { type: 'string', default: 'http://localhost:8080' },
        out: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
    });
    const { out, help, ...options } = values;
    if (help) process.stdout.write(HELP);
    else {
      const { ok } = await runLoad({ ...options, ...(out && { out }) });
      if (!ok) throw new Error('Thresholds were missed: those marked ✗');
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
