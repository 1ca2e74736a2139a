import type { ImportProgress } from './import.ts';

export interface ProgressOptions {
  readonly write: (text: string) => void;
  /** A terminal shows one line per phase that changes; other output gets a line every few seconds. */
  readonly isTerminal: boolean;
  readonly nowMs?: () => number;
}

const TERMINAL_EVERY_MS = 100;
const LINE_EVERY_MS = 3_000;
const BAR_WIDTH = 24;

/** Prints the progress of an import: rows, rows per second, percentage and remaining time. */
export function createProgress(options: ProgressOptions) {
  const { write, isTerminal, nowMs = () => performance.now() } = options;
  const everyMs = isTerminal ? TERMINAL_EVERY_MS : LINE_EVERY_MS;
  let first: ImportProgress | undefined; // of the current phase
  let startedMs = 0;
  let printedMs = 0;
  let isLineOpen = false;

  /** Ends the line that is shown. */
  function end(): void {
    if (isLineOpen) write('\n');
    isLineOpen = false;
  }

  return {
    show(progress: ImportProgress): void {
      const at = nowMs();
      const isNewPhase = first?.phase !== progress.phase;
      if (!first || isNewPhase) {
        end();
        first = progress;
        startedMs = at;
      } else if (at - printedMs < everyMs && progress.done !== 1) return;
      printedMs = at;
      const parts = partsOf(progress, { first, elapsedMs: at - startedMs, isTerminal });
      write(isTerminal ? `\r\x1b[K${parts.join('  ')}` : `${parts.join('  ')}\n`);
      isLineOpen = isTerminal;
    },
    end,
  };
}

function partsOf(
  { phase, rows, done }: ImportProgress,
  now: {
    readonly first: ImportProgress;
    readonly elapsedMs: number;
    readonly isTerminal: boolean;
  },
): readonly string[] {
  const { first, elapsedMs, isTerminal } = now;
  const parts: string[] = [phase];
  if (isTerminal && done !== undefined) parts.push(bar(done));
  if (phase === 'Reading') parts.push(`${count(rows)} rows`);
  if (rows > first.rows && elapsedMs > 0) {
    parts.push(`${count(((rows - first.rows) / elapsedMs) * 1000)} rows/s`);
  }
  if (done === undefined) return parts;
  parts.push(`${Math.floor(done * 100)} %`);
  const doneBefore = first.done ?? 0;
  if (done > doneBefore && done < 1) {
    parts.push(`${duration((elapsedMs / (done - doneBefore)) * (1 - done))} left`);
  }
  return parts;
}

function bar(done: number): string {
  const filled = Math.round(done * BAR_WIDTH);
  return `[${'#'.repeat(filled)}${'.'.repeat(BAR_WIDTH - filled)}]`;
}

/** `1234567` as `1,234,567`. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en');
}

/** Milliseconds as `18 s`, or `2 min 5 s`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
