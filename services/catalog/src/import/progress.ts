import type { ImportProgress } from './import.ts';

/** The time between two lines of one phase. */
const EVERY_MS = 3_000;

/**
 * Creates a function that prints the progress of an import, a line every few seconds: rows, rows per
 * second, percentage and remaining time.
 */
export function createProgress(write: (text: string) => void, nowMs = () => performance.now()) {
  let first: ImportProgress | undefined; // of the current phase
  let startedMs = 0;
  let printedMs = 0;

  return (progress: ImportProgress): void => {
    const at = nowMs();
    if (first?.phase !== progress.phase) {
      first = progress;
      startedMs = at;
    } else if (at - printedMs < EVERY_MS && progress.done !== 1) return;
    printedMs = at;
    write(`${partsOf(progress, first, at - startedMs).join('  ')}\n`);
  };
}

function partsOf(
  { phase, rows, done }: ImportProgress,
  first: ImportProgress,
  elapsedMs: number,
): readonly string[] {
  const parts: string[] = [phase];
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

/** `1234567` as `1,234,567`. */
export function count(number: number): string {
  return Math.round(number).toLocaleString('en');
}

/** Milliseconds as `18 s`, or `2 min 5 s`. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}
