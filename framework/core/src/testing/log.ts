import type { Logger } from '../logger.ts';

/** Discards all messages. */
export const quiet: Logger = { info() {}, warn() {}, error() {} };

/** A logger with what it got. */
export function recordLog() {
  /** `level: message` of all entries. */
  const lines: string[] = [];
  /** The lines of warnings and errors. */
  const problems: string[] = [];
  /** The errors that entries had. */
  const errors: unknown[] = [];
  const write = (line: string) => {
    lines.push(line);
    if (!line.startsWith('info:')) problems.push(line);
  };
  const logger: Logger = {
    info: (message) => write(`info: ${message}`),
    warn: (message) => write(`warn: ${message}`),
    error: (message, ...error) => {
      write(`error: ${message}`);
      errors.push(...error);
    },
  };
  return { logger, lines, problems, errors };
}
