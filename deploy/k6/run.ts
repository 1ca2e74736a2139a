import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { outliveReaders } from '../local/output.ts';
import { folders as checkout, type Folders } from '../local/state.ts';
import { secretFile } from '../local/token.ts';
import { ensureTool } from '../local/tools.ts';
import { type Environment, PROFILES, type ProfileName } from './lib/profiles.ts';
import type { Outcome } from './lib/summary.ts';
import { readNotes } from './notes.ts';

export interface LoadOptions {
  /** The script to run: smoke, load, rate-limit or rollout. */
  readonly profile: string;
  /** The address of the system, such as `http://localhost:8080`. */
  readonly base: string;
  /** `DURATION`, `RATE` and the others of README.md, and `TOKEN` or `JWT_SECRET`. Default: this process's. */
  readonly env?: Environment;
  /** Where the local system stands, whose secret makes tokens. Default: this checkout's. */
  readonly folders?: Folders;
  /** The folder for the report, the figures and the log. Default `.local/load` of the checkout. */
  readonly out?: string;
  /** Is told what a reader should know, line by line. Default: it is printed. */
  readonly say?: (line: string) => void;
  /** Ends the run before its time, in good order: what was sent by then counts. */
  readonly until?: AbortSignal;
}

/** What a run came to. */
export interface LoadResult {
  readonly outcome: Outcome;
  /** The HTML report; none of a run of less than two seconds. */
  readonly report: string | undefined;
}

/** How many different things from k6's log are shown. */
const NOTES_SHOWN = 5;

/** These would take the place of a profile's scenarios. */
const OVERRIDES = ['K6_VUS', 'K6_DURATION', 'K6_ITERATIONS', 'K6_STAGES'];

/** What k6 ends with: objectives met, missed, or a signal before its time. */
const MET = 0;
const MISSED = 99;
const SIGNALLED = 105;

/**
 * Runs a profile against the system at `base`, and tells what it came to.
 *
 * @throws {Error} saying in one line what is missing or wrong, if it cannot be run
 */
export async function runLoad({
  profile,
  base,
  env = process.env,
  folders = checkout,
  out = path.join(folders.root, '.local/load'),
  say = (line) => console.log(line),
  until,
}: LoadOptions): Promise<LoadResult> {
  const name = readProfile(profile, env);
  const origin = readBase(base);
  const credentials = readCredentials({ origin, env, folders });
  const k6 = findK6();
  await requireAnswer(origin);
  const files = emptyFiles(path.resolve(out), name);
  say(`Running ${name} against ${origin}`);

  const script = path.join(import.meta.dirname, `${name}.ts`);
  const run = await runK6([k6, script], {
    until,
    env: {
      ...env,
      ...Object.fromEntries(OVERRIDES.map((override) => [override, undefined])),
      ...credentials,
      BASE: origin,
      SUMMARY: files.figures,
      K6_AUTO_EXTENSION_RESOLUTION: 'false',
      K6_WEB_DASHBOARD: 'true',
      // It listens nowhere: only the report is wanted.
      K6_WEB_DASHBOARD_PORT: '-1',
      K6_WEB_DASHBOARD_PERIOD: '1s',
      K6_WEB_DASHBOARD_EXPORT: files.report,
    },
  });
  fs.writeFileSync(files.log, run.log);

  const report = fs.existsSync(files.report) ? files.report : undefined;
  const lines = [
    ...run.stdout.trimEnd().split('\n'),
    ...notesOf(run.log, files.log),
    ...(report ? [`The report is ${fromHere(report)}`] : []),
  ];
  for (const line of lines) say(line);
  const orderly = until?.aborted ? [MET, MISSED, SIGNALLED] : [MET, MISSED];
  if (!orderly.includes(run.code) || !fs.existsSync(files.figures)) {
    const reason =
      run.code === SIGNALLED ? 'it was interrupted' : `k6 ended with exit code ${run.code}`;
    throw new Error(`Cannot finish ${name}: ${reason} (${fromHere(files.log)})`);
  }
  return { outcome: JSON.parse(fs.readFileSync(files.figures, 'utf8')), report };
}

/** Where a run's files go; those of the last one are removed. */
function emptyFiles(folder: string, name: ProfileName) {
  const file = (extension: string) => path.join(folder, `${name}.${extension}`);
  const files = { report: file('html'), figures: file('json'), log: file('log') };
  fs.mkdirSync(folder, { recursive: true });
  for (const old of Object.values(files)) fs.rmSync(old, { force: true });
  return files;
}

/** What k6 and the script had to say, the most frequent first. */
function notesOf(log: string, logFile: string): string[] {
  const notes = readNotes(log);
  return [
    ...notes.slice(0, NOTES_SHOWN).map(({ text, times }) => `${times} × ${text}`),
    ...(notes.length > NOTES_SHOWN ? [`and more in ${fromHere(logFile)}`] : []),
  ];
}

function fromHere(file: string): string {
  return path.relative(process.cwd(), file);
}

/** The profile of this name, whose options can be made of `env`. */
function readProfile(name: string, env: Environment): ProfileName {
  const names = Object.keys(PROFILES);
  if (!names.includes(name)) {
    throw new Error(`Cannot run the profile "${name}": expected ${names.join(', ')}`);
  }
  PROFILES[name as ProfileName](env);
  return name as ProfileName;
}

function readBase(text: string): string {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`BASE is "${text}": expected an address such as http://localhost:8080`);
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/**
 * The path of k6.
 *
 * @throws {Error} if it is missing, or too old to run the scripts
 */
function findK6(): string {
  const k6 = ensureTool('k6');
  const version = execFileSync(k6, ['version'], { encoding: 'utf8' }).trim();
  const [, major = ''] = /v(\d+)\./.exec(version) ?? [];
  if (Number(major) < 2) throw new Error(`Cannot use ${k6}: it is "${version}", expected k6 v2`);
  return k6;
}

/** Asks once, so that nobody waits for a run to find out that nobody is there. */
async function requireAnswer(origin: string): Promise<void> {
  try {
    const response = await fetch(origin, { signal: AbortSignal.timeout(5_000) });
    await response.body?.cancel();
  } catch (error) {
    throw new Error(
      `Cannot reach ${origin}: ${reasonOf(error)}; start it with "make up", or name another address by BASE`,
      { cause: error },
    );
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return String(cause);
  return 'code' in cause && cause.code === 'ECONNREFUSED' ? 'nobody listens there' : cause.message;
}

/** What tokens are made of: what `env` says, or else the secret of this machine's own system. */
function readCredentials({
  origin,
  env,
  folders,
}: Required<Pick<LoadOptions, 'env' | 'folders'>> & { readonly origin: string }): Environment {
  if (env.TOKEN || env.JWT_SECRET) return {};
  const isHere = ['localhost', '127.0.0.1', '[::1]'].includes(new URL(origin).hostname);
  const file = secretFile(folders.run);
  if (isHere && fs.existsSync(file)) return { JWT_SECRET: fs.readFileSync(file, 'utf8').trim() };
  throw new Error(
    isHere
      ? `Cannot ask for reports at ${origin}: start it with "make up", or set TOKEN or JWT_SECRET`
      : `Cannot ask for reports at ${origin}: set TOKEN, or JWT_SECRET to make tokens`,
  );
}

interface RunOptions {
  readonly env: Environment;
  readonly until: AbortSignal | undefined;
}

/** Runs a script to its end, which an interrupt brings earlier: k6 then still tells its figures. */
function runK6([k6, script]: readonly [string, string], { env, until }: RunOptions) {
  const flags = ['--quiet', '--no-color', '--no-usage-report', '--log-format=json'];
  return new Promise<{ code: number; stdout: string; log: string }>((resolve, reject) => {
    const child = spawn(k6, ['run', ...flags, script], {
      env: env as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const log: Buffer[] = [];
    child.stdout.on('data', (chunk) => stdout.push(chunk));
    child.stderr.on('data', (chunk) => log.push(chunk));
    // A terminal interrupts k6 too, which must not be told twice: it would leave at once.
    const wait = () => {};
    const end = () => child.kill('SIGTERM');
    process.on('SIGINT', wait).on('SIGTERM', end);
    until?.addEventListener('abort', end, { once: true });
    if (until?.aborted) end();
    child.once('error', reject);
    child.once('close', (code) => {
      process.off('SIGINT', wait).off('SIGTERM', end);
      until?.removeEventListener('abort', end);
      const text = (chunks: readonly Buffer[]) => Buffer.concat(chunks).toString();
      resolve({ code: code ?? 1, stdout: text(stdout), log: text(log) });
    });
  });
}

/** `node run.ts --profile smoke --base http://localhost:8080 [--out folder]`; ends with 1 if an objective is missed. */
if (import.meta.main) {
  outliveReaders();
  try {
    const { values } = parseArgs({
      options: {
        profile: { type: 'string', default: 'smoke' },
        base: { type: 'string', default: 'http://localhost:8080' },
        out: { type: 'string', default: path.join(checkout.root, '.local/load') },
      },
    });
    const { outcome } = await runLoad(values);
    if (!outcome.ok) throw new Error('Objectives were missed: those marked ✗');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
