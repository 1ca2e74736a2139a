import type { RequestEntry, ServiceLogger } from '../logging/logging.ts';

/** Creates a logger that writes nothing, and keeps what it gets. */
export function recordLog() {
  /** The messages of all levels. */
  const lines: string[] = [];
  /** The errors of `logger.error`; undefined for a message without one. */
  const errors: unknown[] = [];
  const requests: RequestEntry[] = [];
  const log = (message: string) => void lines.push(message);
  const logger: ServiceLogger = {
    info: log,
    warn: log,
    error(message, error) {
      lines.push(message);
      errors.push(error);
    },
    request: (entry) => void requests.push(entry),
  };
  return { lines, errors, requests, logger };
}
