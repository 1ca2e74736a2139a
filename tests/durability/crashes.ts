import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';

import { type Audit, audit, createLedger, type Ledger, settle, write } from './ledger.ts';

const USERS = new URL('../../services/users/src/main.ts', import.meta.url);

/** Concurrent requests. */
const WRITERS = 16;

/** The state of a run. */
export interface Progress {
  readonly crashes: number;
  readonly acknowledged: number;
}

export interface ServiceCrashes {
  readonly crashes: number;
  readonly onProgress: (progress: Progress) => void;
}

export interface PostgresCrashes extends ServiceCrashes {
  /** Acknowledged users before each crash. */
  readonly writesPerCrash: number;
  /** Default `on`; with `off`, PostgreSQL acknowledges before it writes to disk. */
  readonly synchronousCommit?: 'on' | 'off';
}

/** Kills the service on SQLite at random moments while it writes, restarts it, and audits the users. */
export async function crashService({ crashes, onProgress }: ServiceCrashes): Promise<Audit> {
  const directory = mkdtempSync(join(tmpdir(), 'durability-'));
  const variables = { DATABASE_FILE: join(directory, 'users.db') };
  const ledger = createLedger();
  try {
    for (let crash = 1; crash <= crashes; crash++) {
      await withService(variables, async ({ url, kill }) => {
        await settle(url, ledger);
        const before = ledger.acknowledged.size;
        await whileWriting(url, ledger, async () => {
          while (ledger.acknowledged.size === before) await sleep(1);
          await sleep(Math.random() * 30);
          await kill();
        });
      });
      onProgress({ crashes: crash, acknowledged: ledger.acknowledged.size });
    }
    return await withService(variables, async ({ url }) => {
      await settle(url, ledger);
      return audit(url, ledger);
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Kills PostgreSQL while the service writes to it, restarts it, and audits the users. */
export async function crashPostgres({
  crashes,
  writesPerCrash,
  synchronousCommit = 'on',
  onProgress,
}: PostgresCrashes): Promise<Audit> {
  const ledger = createLedger();
  const settings = {
    synchronous_commit: synchronousCommit,
    // The latest possible write to disk.
    ...(synchronousCommit === 'off' && { wal_writer_delay: '10s', wal_writer_flush_after: '1GB' }),
  };
  const server = await startPostgres({ settings });
  try {
    return await withService({ DATABASE_URL: server.url }, async ({ url }) => {
      for (let crash = 1; crash <= crashes; crash++) {
        const enough = ledger.acknowledged.size + writesPerCrash;
        await whileWriting(url, ledger, async () => {
          while (ledger.acknowledged.size < enough) await sleep(1);
          await sleep(Math.random() * 30);
          await server.kill();
        });
        await server.restart();
        await settle(url, ledger);
        onProgress({ crashes: crash, acknowledged: ledger.acknowledged.size });
      }
      return audit(url, ledger);
    });
  } finally {
    await server.stop();
  }
}

async function whileWriting(url: string, ledger: Ledger, work: () => Promise<void>): Promise<void> {
  let isOver = false;
  const writers = Array.from({ length: WRITERS }, () => write(url, ledger, () => isOver));
  try {
    await work();
  } finally {
    isOver = true;
    await Promise.all(writers);
  }
}

interface RunningService {
  readonly url: string;
  kill(): Promise<void>;
}

async function withService<T>(
  variables: Readonly<Record<string, string>>,
  work: (service: RunningService) => Promise<T>,
): Promise<T> {
  const { url, signal, ended } = await startService(USERS, variables);
  const kill = async () => {
    signal('SIGKILL');
    await ended;
  };
  try {
    return await work({ url, kill });
  } finally {
    await kill();
  }
}
