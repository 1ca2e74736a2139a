import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceUnavailableError } from 'fw';

import { type Command, type CommandTools, UsageError } from './command-line.ts';

/** The pause between two attempts. */
const PAUSE_MS = 500;

/** The part of a store that the command needs. */
export interface MigratableStore {
  /** Migrates the tables to the newest version; resolves with the versions that it applied. */
  migrate(): Promise<readonly number[]>;
  close(): Promise<void>;
}

/**
 * Creates the command that migrates a store, and logs each migration. It can wait for an unavailable store, such as a database that
 * starts together with the service. Each attempt opens and closes the store.
 */
export function createMigrateCommand<Config>(
  openStore: (
    config: Config,
    tools: Pick<CommandTools, 'logger'>,
  ) => MigratableStore | Promise<MigratableStore>,
): Command<Config> {
  return {
    summary: 'migrates the store to the newest version; --wait: retries while it is unavailable',
    usage: '[--wait SECONDS]',
    async run(config, args, { logger, signal }) {
      const endMs = performance.now() + readWaitSeconds(args) * 1000;
      for (let attempt = 1; ; attempt++) {
        try {
          const store = await openStore(config, { logger });
          const applied = await store.migrate().finally(() => store.close());
          for (const version of applied) logger.info(`Applied migration ${version}`);
          if (applied.length === 0) logger.info('Nothing to do: all migrations are applied');
          return 0;
        } catch (error) {
          const isUnavailable = error instanceof ServiceUnavailableError;
          if (!isUnavailable || performance.now() + PAUSE_MS > endMs) throw error;
          if (attempt === 1) logger.info(`Waiting for the store: ${error.message}`);
          await sleep(PAUSE_MS, undefined, { signal });
        }
      }
    },
  };
}

/** @throws {UsageError} if the arguments are not `--wait` and seconds */
function readWaitSeconds(args: readonly string[]): number {
  const [, seconds = '0'] = /^(?:--wait[ =](\d{1,4}))?$/.exec(args.join(' ')) ?? wrong(args);
  return Number(seconds);
}

function wrong(args: readonly string[]): never {
  const given = JSON.stringify(args.join(' ').slice(0, 60));
  throw new UsageError(`Cannot migrate: got ${given}, expected --wait and seconds from 0 to 9999`);
}
