import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { ignoreClosedOutput } from '../local/output.ts';
import { folders } from '../local/state.ts';
import { secretFile } from '../local/token.ts';
import { ensureTool } from '../local/tools.ts';
import { type Environment, PROFILES, type ProfileName } from './lib/profiles.ts';

export interface LoadOptions {
  /** The script to run: smoke, load, rate-limit or rollout. */
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
  /** Whether the run was completed and every threshold was met. */
  readonly ok: boolean;
  readonly requests: number;
  readonly failed: number;
  /** Iterations that k6 could not start in time. */
  readonly dropped: number;
}

/** Exit codes of k6. */
const MET = 0;
const MISSED = 99;
const INTERRUPTED = 105;

/**
 * Runs a profile against the system at `base`.
 *
 * @throws {Error} with one line, if an option is invalid, the system does not respond or k6 fails
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const { profile, base, env = process.env, run = folders.run, until } = options;
  const { out = path.join(folders.root, '.local/load') } = options;
  const { print = (text) => void process.stdout.write(text) } = options;
  const name = readProfile(profile, env);
  const origin = readBase(base);
  const credentials = readCredentials(origin, { env, run });
  const k6 = findK6();
  await requireResponse(origin);

  fs.mkdirSync(out, { recursive: true });
  const [report, summary, log] = ['html', 'json', 'log'].map((extension) => {
    const file = path.resolve(out, `${name}.${extension}`);
    fs.rmSync(file, { force: true });
    return file;
  }) as [string, string, string];
  print(`Running ${name} against ${origin}\n`);
  const script = path.join(import.meta.dirname, `${name}.ts`);
  const flags = ['--quiet', '--no-usage-report', `--log-output=file=${log}`];
  const child = spawn(k6, ['run', ...flags, `--summary-export=${summary}`, script], {
    env: {
      ...env,
      ...credentials,
      BASE: origin,
      K6_WEB_DASHBOARD: 'true',
      // The dashboard does not listen: only its report is needed.
      K6_WEB_DASHBOARD_PORT: '-1',
      K6_WEB_DASHBOARD_PERIOD: '1s',
      K6_WEB_DASHBOARD_EXPORT: report,
    } as NodeJS.ProcessEnv,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  child.stdout.setEncoding('utf8').on('data', print);
  const code = await exitCodeOf(child, until);

  const logged = fs.readFileSync(log, 'utf8').split('\n', 5).filter(Boolean);
  if (logged.length > 0) print(`${logged.join('\n')}\nLog: ${path.relative('', log)}\n`);
  if (fs.existsSync(report)) print(`Report: ${path.relative('', report)}\n`);
  if (code === INTERRUPTED && !until?.aborted) throw new Error(`Interrupted ${name}`);
  if (![MET, MISSED, INTERRUPTED].includes(code) || !fs.existsSync(summary)) {
    throw new Error(`Cannot finish ${name}: k6 exited with code ${code} (see ${log})`);
  }
  const { metrics } = JSON.parse(fs.readFileSync(summary, 'utf8'));
  return {
    ok: code === MET,
    requests: metrics.http_reqs?.count ?? 0,
    // In a rate, k6 counts a true sample as a pass: here a failed request.
    failed: metrics.http_req_failed?.passes ?? 0,
    dropped: metrics.dropped_iterations?.count ?? 0,
  };
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

function readProfile(name: string, env: Environment): ProfileName {
  const names = Object.keys(PROFILES);
  if (!names.includes(name)) {
    throw new Error(`Cannot run the profile "${name}": expected ${names.join(', ')}`);
  }
  // Rejects invalid variables before k6 starts.
  PROFILES[name as ProfileName](env);
  return name as ProfileName;
}

function readBase(text: string): string {
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol)) return url.origin + url.pathname.replace(/\/+$/, '');
  throw new Error(`BASE is "${text}": expected an address such as http://localhost:8080`);
}

/** The path of k6. @throws {Error} if it is missing or older than version 2 */
function findK6(): string {
  const k6 = ensureTool('k6');
  const version = execFileSync(k6, ['version'], { encoding: 'utf8' }).trim();
  if (/v([2-9]|\d\d)\./.test(version)) return k6;
  throw new Error(`Cannot use ${k6}: it is "${version}", expected k6 v2`);
}

async function requireResponse(origin: string): Promise<void> {
  try {
    const response = await fetch(origin, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
  } catch (error) {
    const { cause = error } = error as Error;
    const reason = cause instanceof Error ? cause.message : cause;
    throw new Error(
      `Cannot reach ${origin} (${reason}): start the system with "make up" or set BASE`,
      { cause: error },
    );
  }
}

/** The variables for tokens: those in `env`, else the secret of the local system. */
function readCredentials(
  origin: string,
  { env, run }: { readonly env: Environment; readonly run: string },
): Environment {
  if (env.TOKEN || env.JWT_SECRET) return {};
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
  const file = secretFile(run);
  if (isLocal && fs.existsSync(file)) return { JWT_SECRET: fs.readFileSync(file, 'utf8').trim() };
  const start = isLocal ? 'start the system with "make up", or ' : '';
  throw new Error(`Cannot request reports from ${origin}: ${start}set TOKEN or JWT_SECRET`);
}

/** `node run.ts --profile smoke --base http://localhost:8080`; exits with 1 if a threshold is missed. */
if (import.meta.main) {
  ignoreClosedOutput();
  try {
    const { values } = parseArgs({
      options: {
        profile: { type: 'string', default: 'smoke' },
        base: { type: 'string', default: 'http://localhost:8080' },
        out: { type: 'string' },
      },
    });
    const { out, ...options } = values;
    const { ok } = await runLoad({ ...options, ...(out && { out }) });
    if (!ok) throw new Error('Thresholds were missed: those marked ✗');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
