import { inspect } from 'node:util';

import type { Logger } from 'fw';

export interface LoggerOptions {
  /** Takes each line, line break included. Default: standard output. */
  readonly write?: (line: string) => void;
  readonly now?: () => Date;
}

/** Writes one JSON object a line, so that nothing a client sends can forge another one. */
export function createLogger(service: string, options: LoggerOptions = {}): Logger {
  const { write = (line) => process.stdout.write(line), now = () => new Date() } = options;
  const log = (level: string, message: string, extra: object = {}) =>
    write(`${JSON.stringify({ time: now().toISOString(), level, service, message, ...extra })}\n`);
  return {
    info: (message) => log('info', message),
    warn: (message) => log('warn', message),
    error: (message, error) =>
      log('error', message, error === undefined ? {} : { error: inspect(error) }),
  };
}
