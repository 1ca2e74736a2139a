import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** Variables on top of those that every process needs. */
export type Variables = Readonly<Record<string, string>>;

/** How a process ended, and all it wrote. */
export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly durationMs: number;
}

/** A service that runs as a process of its own. */
export interface ServiceProcess {
  readonly url: string;
  readonly healthUrl: string;
  signal(name: NodeJS.Signals): void;
  readonly ended: Promise<Ending>;
}

/** Runs the program at `main` until it ends by itself. */
export function runToEnd(main: URL, variables: Variables): Promise<Ending> {
  return watch(spawnNode(main, variables)).ended;
}

/**
 * Starts the service at `main` on free ports; resolves once it and its health can be asked.
 *
 * @throws {Error} with what it wrote, if it ends before that
 */
export async function startService(main: URL, variables: Variables = {}): Promise<ServiceProcess> {
  const child = spawnNode(main, { PORT: '0', HEALTH_PORT: '0', ...variables });
  const { ended, output } = watch(child);
  const listening = async (pattern: RegExp): Promise<string> => {
    for (;;) {
      const url = pattern.exec(output())?.[1];
      if (url) return url;
      await once(child.stdout ?? child, 'data');
    }
  };
  const started = Promise.all([
    listening(/"message":"Listening on (http[^"]+)"/),
    listening(/"message":"Health: Listening on (http[^"]+)"/),
  ]);
  const early = ended.then(({ stdout, stderr }) => {
    throw new Error(`The service ended before it listened: ${stdout}${stderr}`);
  });
  const [url, healthUrl] = await Promise.race([started, early]);
  early.catch(() => {});
  return { url, healthUrl, signal: (name) => child.kill(name), ended };
}

function spawnNode(main: URL, variables: Variables): ChildProcess {
  return spawn(process.execPath, [fileURLToPath(main)], {
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
