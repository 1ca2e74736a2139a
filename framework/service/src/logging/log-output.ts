import { writeSync } from 'node:fs';

import { pauseThread } from '../sqlite/pause.ts';

/** Where log lines go. */
export interface LogOutput {
  write(line: string): void;
  /** Hands on what has been kept back. */
  flush(): void;
}

export interface LogOutputOptions {
  /** The file descriptor to write to. Default 1: standard output. */
  readonly fd?: number;
}

/** So much is written at a time: a system call for each line would cost more than making the line. */
const CHUNK_LENGTH = 32_768;

/** The longest that a line is kept back. */
const FLUSH_MS = 100;

/** How much is kept for a reader that has stopped reading; more than that is dropped. */
const MAX_KEPT_LENGTH = 16 * 1024 ** 2;

/** How long the end of a process waits for such a reader. */
const LAST_FLUSH_MS = 2_000;

/**
 * Writes log lines to a file descriptor, many at a time, none later than a tenth of a second, and all
 * of them before the process exits. A reader that goes away is no reason to fail.
 */
export function openLogOutput({ fd = 1 }: LogOutputOptions = {}): LogOutput {
  let kept = '';
  let rest: Buffer = Buffer.alloc(0);
  let isSet = false;
  let isGone = false;

  const flush = (): void => {
    try {
      while (!isGone && (rest.length > 0 || kept !== '')) {
        if (rest.length === 0) {
          rest = Buffer.from(kept);
          kept = '';
        }
        rest = rest.subarray(writeSync(fd, rest));
      }
    } catch (error) {
      // The reader of a pipe that does not block has made no room yet, or the disk is full.
      if (['EAGAIN', 'ENOSPC'].includes(codeOf(error))) flushLater();
      else isGone = true;
    }
  };
  const flushLater = (): void => {
    if (isSet) return;
    isSet = true;
    setTimeout(() => {
      isSet = false;
      flush();
    }, FLUSH_MS).unref();
  };

  process.on('exit', () => {
    const endMs = performance.now() + LAST_FLUSH_MS;
    flush();
    while (rest.length > 0 && !isGone && performance.now() < endMs) {
      pauseThread(10);
      flush();
    }
  });
  return {
    write(line) {
      if (isGone || kept.length > MAX_KEPT_LENGTH) return;
      kept += line;
      if (kept.length >= CHUNK_LENGTH && rest.length === 0) flush();
      else flushLater();
    },
    flush,
  };
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}
