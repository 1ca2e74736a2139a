import { execFile } from 'node:child_process';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Whether a server could listen on `port` of this machine's loopback address right now. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}

/** Who listens on `port`, such as `node (process 4711)`; nothing where the system does not tell. */
export async function portHolder(port: number): Promise<string | undefined> {
  const lsof = await output('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']);
  const [, pid, command] = /^p(\d+)\n(?:.*\n)*?c(.+)$/m.exec(lsof) ?? [];
  if (pid && command) return `${command} (process ${pid})`;

  const ss = await output('ss', ['-Hltnp', `sport = :${port}`]);
  const [, name, id] = /\(\("([^"]+)",pid=(\d+)/.exec(ss) ?? [];
  return name && id ? `${name} (process ${id})` : undefined;
}

/** What `command` prints, or nothing when it is missing or fails. */
async function output(command: string, args: readonly string[]): Promise<string> {
  try {
    return (await run(command, args, { timeout: 2_000 })).stdout;
  } catch {
    return '';
  }
}

/** How long threads of a process that has ended may hold its ports still. */
const RELEASE_MS = 500;

/** @throws {Error} naming `port`, what needs it and who holds it, if it is taken */
export async function requireFreePort(port: number, name: string): Promise<void> {
  for (let waitedMs = 0; waitedMs <= RELEASE_MS; waitedMs += 50) {
    if (await isPortFree(port)) return;
    await sleep(50);
  }
  const holder = await portHolder(port);
  throw new Error(
    `Port ${port}, which ${name} needs, is taken${holder ? ` by ${holder}` : ''}: ` +
      'free it, or choose another range (make up PORT=8180)',
  );
}
