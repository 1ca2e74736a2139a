import { type LogEntry, quiet, recordLog as recordMessages } from '@fw/core/testing';

import type { RequestEntry, ServiceLogger } from '../logging/logging.ts';

export { type LogEntry, quiet };

/** Creates a logger that writes nothing, and keeps what it gets. */
export function recordLog() {
  /** The messages of all levels. */
  const lines: string[] = [];
  /** The errors of `logger.error`; undefined for a message without one. */
  const errors: unknown[] = [];
  const requests: RequestEntry[] = [];
  const { logger: messages, entries } = recordMessages();
  const logger: ServiceLogger = {
    info(message, fields) {
      lines.push(message);
      messages.info(message, fields);
    },
    warn(message, fields) {
      lines.push(message);
      messages.warn(message, fields);
    },
    error(message, error, fields) {
      lines.push(message);
      errors.push(error);
      messages.error(message, error, fields);
    },
    request: (entry) => void requests.push(entry),
  };
  return { lines, errors, entries, requests, logger };
}
