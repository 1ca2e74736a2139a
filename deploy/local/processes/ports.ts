import { execFile } from 'node:child_process';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** Whether `port` of the loopback address is free. */
export function isPortFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => {
      server.close(() => resolve(true));
    });
  });
}

/** The process that listens on `port`, such as `node (process 4711)`; undefined if unknown. */
export async function portHolder(port: number): Promise<string | undefined> {
  const lsof = await output('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-Fpc']);
  const [, pid, command] = /^p(\d+)\n(?:.*\n)*?c(.+)$/m.exec(lsof) ?? [];
  if (pid && command) return `${command} (process ${pid})`;

  const ss = await output('ss', ['-Hltnp', `sport = :${port}`]);
  const [, name, id] = /\(\("([^"]+)",pid=(\d+)/.exec(ss) ?? [];
  return name && id ? `${name} (process ${id})` : undefined;
}

/** The output of `command`; empty if it is missing or fails. */
async function output(command: string, args: readonly string[]): Promise<string> {
  const run = promisify(execFile)(command, args, { timeout: 2_000 });
  return run.then(
    ({ stdout }) => stdout,
    () => '',
  );
}

/** @throws {Error} naming `port`, the process that needs it and the one that uses it, if it is taken */
export async function requireFreePort(port: number, name: string): Promise<void> {
  // The kernel may release the ports of a process shortly after its end.
  for (let attempt = 0; attempt < 10; attempt += 1) {
    if (await isPortFree(port)) return;
    await sleep(50);
  }
  const holder = await portHolder(port);
  throw new Error(
    `Port ${port}, which ${name} needs, is taken${holder ? ` by ${holder}` : ''}: ` +
      'free it, or choose another range (make up PORT=8180)',
  );
}
