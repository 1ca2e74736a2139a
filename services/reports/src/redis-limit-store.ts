import { type RedisClient, redisClientOptions, redisStore } from '@fw/rate-limit/redis';
import type { Logger } from 'fw';
import { createClient } from 'redis';

/**
 * Counts in the server at the address that `readUrl` returns; the server may start later. Each new connection
 * uses the current address. Why there is no connection is logged once.
 */
export function openRedisLimitStore(readUrl: () => string, logger?: Logger) {
  let problem: string | undefined;
  let current = connect();

  function connect() {
    const url = readUrl();
    // The client writes the parts of the address into its options.
    const client = createClient({
      ...redisClientOptions,
      socket: { ...redisClientOptions.socket },
      url,
    });
    client
      .on('ready', () => {
        problem = undefined;
      })
      .on('error', (error: Error) => {
        logOnce(error);
        if (client === current && readUrl() !== url) reconnect();
      });
    client.connect().catch(() => {});
    return client;
  }

  function reconnect(): void {
    try {
      const previous = current;
      current = connect();
      previous.destroy();
    } catch (error) {
      logOnce(error as Error); // the client rejects the address
    }
  }

  function logOnce({ message }: Error): void {
    if (message !== problem) logger?.warn(`Redis cannot be used for rate limits: ${message}`);
    problem = message;
  }

  const client: RedisClient = {
    get isReady() {
      return current.isReady;
    },
    sendCommand: (args) => current.sendCommand(args),
    on: () => {}, // each client has its listener
  };
  return {
    store: redisStore(client),
    close: async () => {
      if (current.isOpen) current.destroy();
    },
  };
}
