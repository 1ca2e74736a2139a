import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { endOfLog, ignoreClosedOutput } from '../local/output.ts';
import { folders } from '../local/state.ts';
import { secretFile } from '../local/token.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadOptions {
  /** The script to run: `smoke` is smoke.ts. */
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
  /** Whether the run was completed and every threshold was met; `breakpoint` always misses one. */
  readonly ok: boolean;
  readonly requests: number;
  readonly failed: number;
  /** Responses with the header `COUNT_HEADER`. */
  readonly withHeader: number;
  /** Iterations that k6 could not start in time. */
  readonly dropped: number;
  readonly stream: StreamCounts;
  /** The file with the log of k6. */
  readonly log: string;
}

/** The requests of `rollout`; a repeated request counts once. */
export interface StreamCounts {
  /** Requests without an expected response. */
  readonly lost: number;
  /** Requests that create a user: POST. */
  readonly creations: number;
  /** Those of them that got a response with 201. */
  readonly created: number;
}

/** Exit codes of k6. */
const MET = 0;
const MISSED = 99;
const INTERRUPTED = 105;

/** The scripts in this folder. */
const PROFILES = fs
  .readdirSync(import.meta.dirname)
  .filter((file) => /^(?!run\.)[a-z-]+\.ts$/.test(file))
  .map((file) => path.basename(file, '.ts'));

/**
 * Checks the profile, the address and the credentials; returns the variables for k6.
 *
 * @throws {Error} with one line, if one is invalid or the system does not respond
 */
async function prepare({ profile, base, env = process.env, run = folders.run }: LoadOptions) {
  if (!PROFILES.includes(profile)) {
    throw new Error(`PROFILE is "${profile}": expected ${PROFILES.join(', ')}`);
  }
  const url = URL.parse(base);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`BASE is "${base}": expected an address such as http://localhost:8080`);
  }
  // Messages and reports contain the address.
  if (url.username || url.password) {
    throw new Error(`BASE has a user or password: expected an address such as ${url.origin}`);
  }
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname);
  const file = secretFile(run);
  const secret = isLocal && fs.existsSync(file) ? fs.readFileSync(file, 'utf8').trim() : undefined;
  const credentials = env.TOKEN || env.JWT_SECRET ? {} : { JWT_SECRET: secret };
  if (!env.TOKEN && !env.JWT_SECRET && !secret) {
    throw new Error(`Cannot request reports from ${base}: set TOKEN or JWT_SECRET`);
  }
  await fetch(url, { method: 'HEAD', signal: AbortSignal.timeout(5_000) }).catch((error) => {
    const reason = `Cannot reach ${base} (${error.cause ?? error})`;
    throw new Error(`${reason}: start the system with "make up" or set BASE`, { cause: error });
  });
  return { ...env, ...credentials, BASE: base };
}

/**
 * Runs a profile against the system at `base`.
 *
 * @throws {Error} with one line, if an option is invalid or the system does not respond; with the last lines of
 *   the log, if k6 fails
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { profile, until, out = path.join(folders.root, '.local/load') } = options;
  const { print = (text) => void process.stdout.write(text) } = options;
  const env = await prepare(options);

  const fileOf = (extension: string) => path.resolve(out, `${profile}.${extension}`);
  const [report, summary, log] = [fileOf('html'), fileOf('json'), fileOf('log')];
  fs.mkdirSync(out, { recursive: true });
  for (const file of [report, summary, log]) fs.rmSync(file, { force: true });
  print(`Running ${profile} against ${env.BASE}\n`);
  const flags = ['--quiet', '--no-usage-report', `--log-output=file=${log}`];
  const script = path.join(import.meta.dirname, `${profile}.ts`);
  const child = spawn('k6', ['run', ...flags, `--summary-export=${summary}`, script], {
    env: {
      ...env,
      K6_WEB_DASHBOARD: 'true',
      // The dashboard does not listen: only its report is needed.
      K6_WEB_DASHBOARD_PORT: '-1',
      K6_WEB_DASHBOARD_PERIOD: '1s',
      K6_WEB_DASHBOARD_EXPORT: report,
    } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', print);
  // k6 stops gracefully on SIGTERM, and on Ctrl-C in its terminal.
  const ignore = () => {};
  const stop = () => void child.kill('SIGTERM');
  process.on('SIGINT', ignore).on('SIGTERM', stop);
  until?.addEventListener('abort', stop, { once: true });
  if (until?.aborted) stop();
  const [code, signal] = await once(child, 'close').finally(() => {
    process.off('SIGINT', ignore).off('SIGTERM', stop);
    until?.removeEventListener('abort', stop);
  });

  const isFinished = code === MET || code === MISSED || (code === INTERRUPTED && until?.aborted);
  if (!isFinished || !fs.existsSync(summary)) {
    const end = `k6 exited with ${signal ?? `code ${code}`}`;
    throw new Error(`Cannot finish ${profile}: ${end}\n${endOfLog(log)}`);
  }
  // Information is, for example, the users that LEDGER logs.
  const lines = fs.existsSync(log) ? fs.readFileSync(log, 'utf8').split('\n') : [];
  const problems = lines.filter((line) => line && !line.includes(' level=info ')).slice(0, 5);
  if (problems.length > 0) print(`${problems.join('\n')}\nLog: ${path.relative('', log)}\n`);
  if (fs.existsSync(report)) print(`Report: ${path.relative('', report)}\n`);
  const { metrics } = JSON.parse(fs.readFileSync(summary, 'utf8'));
  const count = (name: string): number => metrics[name]?.count ?? 0;
  return {
    ok: code === MET || (profile === 'breakpoint' && code === MISSED),
    requests: count('http_reqs'),
    // In a rate, k6 counts a true sample as a pass: here a failed request.
    failed: metrics.http_req_failed?.passes ?? 0,
    withHeader: count('responses_with_header'),
    dropped: count('dropped_iterations'),
    stream: {
      lost: count('requests_lost'),
      creations: count('creations_sent'),
      created: count('users_created'),
    },
    log,
  };
}

/** `node run.ts --profile smoke --base http://localhost:8080`; `--check` checks only these arguments. */
if (import.meta.main) {
  ignoreClosedOutput();
  try {
    const { values } = parseArgs({
      options: {
        profile: { type: 'string', default: 'smoke' },
        base: { type: 'string', default: 'http://localhost:8080' },
        out: { type: 'string', default: path.join(folders.root, '.local/load') },
        check: { type: 'boolean', default: false },
      },
    });
    if (values.check) await prepare(values);
    else if (!(await runLoad(values)).ok) {
      throw new Error('Thresholds were missed: those marked ✗');
    }
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
