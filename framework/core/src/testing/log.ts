import type { LogFields, Logger } from '../logger.ts';

/** Discards all messages. */
export const quiet: Logger = { info() {}, warn() {}, error() {} };

/** One call of a logger. */
export interface LogEntry {
  readonly level: 'info' | 'warn' | 'error';
  readonly message: string;
  readonly error?: unknown;
  readonly fields?: LogFields;
}

/** A logger that prints nothing, with what it got. */
export function recordLog() {
  /** All entries; without `error` and `fields` if the call had none. */
  const entries: LogEntry[] = [];
  /** `level: message` of all entries. */
  const lines: string[] = [];
  /** The lines of warnings and errors. */
  const problems: string[] = [];
  /** The errors that entries had. */
  const errors: unknown[] = [];
  const write = ({ level, message, error, fields }: LogEntry) => {
    const line = `${level}: ${message}`;
    lines.push(line);
    if (level !== 'info') problems.push(line);
    if (error !== undefined) errors.push(error);
    entries.push({
      level,
      message,
      ...(error !== undefined && { error }),
      ...(fields && { fields }),
    });
  };
  const logger: Logger = {
    info: (message, fields) => write({ level: 'info', message, ...(fields && { fields }) }),
    warn: (message, fields) => write({ level: 'warn', message, ...(fields && { fields }) }),
    error: (message, error, fields) =>
      write({ level: 'error', message, error, ...(fields && { fields }) }),
  };
  return { logger, entries, lines, problems, errors };
}
