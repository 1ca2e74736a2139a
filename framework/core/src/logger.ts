/** Where an application writes what it has to say, one line a call. */
export interface Logger {
  info(message: string): void;
  warn(message: string): void;
  /** `error` is what was thrown: its stack and causes belong in the log, never in an answer. */
  error(message: string, error?: unknown): void;
}
