/** Prints lines, and below them one status line. */
export interface Progress {
  /** Prints a line. */
  log(line: string): void;
  /** Replaces the status line; an empty one removes it. */
  status(line: string): void;
}

/** The part of `process.stdout` that is used here. */
interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

/** Minimum time between two status lines in a file, which cannot be replaced. */
const INTERVAL_MS = 15_000;

const CLEAR_LINE = '\r\x1b[K';

/**
 * Creates the output of a long command. A terminal shows the current status line; a file contains one
 * only if it changed and no line was printed for 15 s.
 */
export function createProgress(output: Output = process.stdout, now = Date.now): Progress {
  let shown = '';
  let printedMs = now();
  return {
    log(line) {
      output.write(`${output.isTTY ? CLEAR_LINE : ''}${line}\n`);
      shown = '';
      printedMs = now();
    },
    status(line) {
      if (line === shown) return;
      if (output.isTTY) {
        // A longer line would wrap, and only its last part could be replaced.
        output.write(CLEAR_LINE + line.slice(0, (output.columns ?? 80) - 1));
      } else {
        if (line === '' || now() - printedMs < INTERVAL_MS) return;
        output.write(`${line}\n`);
        printedMs = now();
      }
      shown = line;
    },
  };
}
