import { freePort } from '../../../../deploy/local/testing/ports.ts';
import { startProgram } from '../../../../deploy/local/testing/program.ts';
import { ensureTool } from '../../../../tools/programs.ts';

/** A Redis or Valkey server for one test, on a free local port. */
export interface RedisServer {
  readonly port: number;
  readonly url: string;
  /** Sends a signal; for SIGKILL, resolves when the process has ended. */
  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): Promise<void>;
  /** Starts the killed server again on the same port, without data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a server without persistence; resolves when it is ready. */
export async function startRedisServer(): Promise<RedisServer> {
  const port = await freePort();
  const settings = `--port ${port} --bind 127.0.0.1 --appendonly no --save`.split(' ');
  const start = () =>
    startProgram([ensureTool('redis'), ...settings, ''], { ready: /Ready to accept connections/ });
  let server = await start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    signal: async (name) => {
      if (name === 'SIGKILL') await server.stop(name);
      else server.child.kill(name);
    },
    restart: async () => {
      server = await start();
    },
    stop: () => server.stop('SIGKILL'),
  };
}
