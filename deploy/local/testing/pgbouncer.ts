import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { ensureTool } from '../../../tools/programs.ts';
import { freePort } from './ports.ts';
import { startProgram } from './program.ts';

/** When a client of PgBouncer returns its connection to the server. */
export type PoolMode = 'session' | 'transaction';

/** A PgBouncer in front of a PostgreSQL server on this machine. */
export interface Pgbouncer {
  /** The address of the database `url` through the pooler. */
  through(url: string): string;
  stop(): Promise<void>;
}

/**
 * Starts a real PgBouncer for all databases of the server at `url`, which trusts its user. `settings` are
 * lines of the section `[pgbouncer]`. It ends with this process.
 */
export async function startPgbouncer(
  url: string,
  poolMode: PoolMode,
  settings: readonly string[] = [],
): Promise<Pgbouncer> {
  const program = ensureTool('pgbouncer');
  const port = await freePort();
  const { hostname, port: serverPort, username } = new URL(url);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'pgbouncer-'));
  fs.chmodSync(folder, 0o755);
  const file = path.join(folder, 'pgbouncer.ini');
  const lines = [
    '[databases]',
    `* = host=${hostname} port=${serverPort} user=${username}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    `pool_mode = ${poolMode}`,
    ...settings,
  ];
  fs.writeFileSync(file, `${lines.join('\n')}\n`);
  // PgBouncer does not run as root, and does not notice the end of its parent: the shell does.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const script = '"$@" & read -r _; kill $!; wait';
  const command = ['/bin/sh', '-c', script, 'sh', program, ...user, file];
  const { child, ended } = await startProgram(command, { ready: /process up/ });
  return {
    through(database) {
      const address = new URL(database);
      address.port = String(port);
      return address.href;
    },
    async stop() {
      child.stdin?.end();
      await ended;
      fs.rmSync(folder, { recursive: true });
    },
  };
}
