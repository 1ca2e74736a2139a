/** Where an application writes what it has to say, one line a call. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  /** `error` is what was thrown: its stack and causes belong in the log, never in an answer. */
  error(message: string, error?: unknown): void;
}

/** Writes to the terminal: what is wrong to standard error, the rest to standard output. */
export const consoleLogger: Logger = {
  info: (message) => console.info(message),
  warn: (message) => console.warn(message),
  error: (message, ...error) => console.error(message, ...error),
};
