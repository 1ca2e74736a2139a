import type { ImportEvent } from './import.ts';

/** What shows progress, and how. */
export interface ProgressOptions {
  readonly write: (text: string) => void;
  /** A terminal has one line that changes; anything else gets a line now and then. */
  readonly isTerminal: boolean;
  readonly nowMs?: () => number;
}

export interface Progress {
  show(event: ImportEvent): void;
  /** Leaves the last state standing. */
  end(): void;
}

const TERMINAL_EVERY_MS = 100;
const LINE_EVERY_MS = 3_000;
const BAR_WIDTH = 24;

/** What is being done, and how far it has come. */
interface Phase {
  readonly name: string;
  readonly startedMs: number;
  readonly from: { readonly rows: number; readonly done: number };
}

/** Shows how an import comes on: rows, rows per second, how much is done, how long it will take. */
export function createProgress(options: ProgressOptions): Progress {
  const { write, isTerminal, nowMs = () => performance.now() } = options;
  let phase: Phase | undefined;
  let shownMs = Number.NEGATIVE_INFINITY;
  let isOpen = false;

  function print(line: string): void {
    write(isTerminal ? `\r\x1b[K${line}` : `${line}\n`);
    isOpen = isTerminal;
  }

  function end(): void {
    if (isOpen) write('\n');
    isOpen = false;
  }

  return {
    show(event) {
      if (event.kind === 'resumed') {
        const { items, refused } = event.state;
        return print(`Going on at line ${count(event.line)}, after ${count(items + refused)} rows`);
      }
      const at = nowMs();
      const { name, rows, done } = readEvent(event);
      if (phase?.name !== name) {
        end();
        phase = { name, startedMs: at, from: { rows, done: done ?? 0 } };
        shownMs = Number.NEGATIVE_INFINITY;
      }
      if (at - shownMs < (isTerminal ? TERMINAL_EVERY_MS : LINE_EVERY_MS) && done !== 1) return;
      shownMs = at;
      print(lineOf(phase, { rows, done, elapsedMs: at - phase.startedMs, isTerminal }));
    },
    end,
  };
}

/** What an event says: in how many rows, and what part of all of them, if that can be known. */
function readEvent(event: Exclude<ImportEvent, { kind: 'resumed' }>) {
  if (event.kind === 'build') return { name: 'Indexing', rows: 0, done: event.step.done };
  const { source, state } = event;
  const { sizeBytes } = source;
  const done = sizeBytes ? Math.min(1, source.readBytes() / sizeBytes) : undefined;
  return { name: 'Reading', rows: state.items + state.refused, done };
}

function lineOf(
  { name, from }: Phase,
  now: {
    readonly rows: number;
    readonly done: number | undefined;
    readonly elapsedMs: number;
    readonly isTerminal: boolean;
  },
): string {
  const { rows, done, elapsedMs, isTerminal } = now;
  const parts = [name];
  if (isTerminal && done !== undefined) parts.push(bar(done));
  if (rows > 0) parts.push(`${count(rows)} rows`);
  if (rows > from.rows && elapsedMs > 0) {
    parts.push(`${count(((rows - from.rows) / elapsedMs) * 1000)} rows/s`);
  }
  if (done !== undefined) parts.push(`${Math.floor(done * 100)} %`);
  if (done !== undefined && done > from.done && done < 1) {
    const leftMs = (elapsedMs / (done - from.done)) * (1 - done);
    parts.push(`${duration(leftMs)} left`);
  }
  return parts.join('  ');
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
