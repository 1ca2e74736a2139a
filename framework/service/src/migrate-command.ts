import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { ServiceUnavailableError } from 'fw';

import { type Command, type CommandTools, UsageError } from './command-line.ts';

/** How often a store that is away is asked again. */
const PAUSE_MS = 500;

/**
 * The command that brings a store to the newest version. A store that is away, as a database that was
 * started together with the service, may be waited for.
 */
export function createMigrateCommand<Config>(
  migrate: (config: Config, tools: Pick<CommandTools, 'logger'>) => Promise<void>,
): Command<Config> {
  return {
    summary: 'brings the store to the newest version, and ends; may wait for one that is away',
    usage: '[--wait SECONDS]',
    async run(config, args, { logger, signal }) {
      const endMs = performance.now() + readWaitSeconds(args) * 1000;
      for (let attempt = 1; ; attempt++) {
        try {
          await migrate(config, { logger });
          return 0;
        } catch (error) {
          const isAway = error instanceof ServiceUnavailableError;
          if (!isAway || performance.now() + PAUSE_MS > endMs) throw error;
          if (attempt === 1) logger.info(`Waiting for the store: ${error.message}`);
          await sleep(PAUSE_MS, undefined, { signal });
        }
      }
    },
  };
}

/** @throws {UsageError} if the arguments say anything else */
function readWaitSeconds(args: readonly string[]): number {
  const { tokens } = parseArgs({
    args: [...args],
    options: { wait: { type: 'string' } },
    strict: false,
    tokens: true,
  });
  let seconds = 0;
  for (const token of tokens) {
    const value = token.kind === 'option' && token.name === 'wait' ? token.value : undefined;
    if (value === undefined || !/^\d{1,4}$/.test(value)) {
      const given = JSON.stringify(args.join(' ').slice(0, 60));
      throw new UsageError(
        `Cannot migrate: got ${given}, expected --wait and seconds from 0 to 9999`,
      );
    }
    seconds = Number(value);
  }
  return seconds;
}
