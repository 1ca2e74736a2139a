import { parseArgs } from 'node:util';

import { crashPostgres, crashService, type Progress } from './crashes.ts';
import type { Audit } from './ledger.ts';

const FULL = { service: 1_000, postgres: 15, control: 3, writesPerCrash: 1_500 };
const SHORT = { service: 10, postgres: 2, control: 1, writesPerCrash: 200 };

interface Line extends Audit {
  readonly what: string;
  readonly crashes: number;
}

/** Crashes what keeps the users, again and again, and prints what of it was lost. */
async function main(): Promise<void> {
  const { values } = parseArgs({ options: { full: { type: 'boolean', default: false } } });
  const counts = values.full ? FULL : SHORT;
  const { writesPerCrash } = counts;
  const run = async (
    what: string,
    crashes: number,
    crash: (onProgress: (progress: Progress) => void) => Promise<Audit>,
  ): Promise<Line> => ({ what, crashes, ...(await crash(progressOf(what, crashes))) });

  const service = await run('the service, on SQLite', counts.service, (onProgress) =>
    crashService({ crashes: counts.service, onProgress }),
  );
  const postgres = await run('PostgreSQL', counts.postgres, (onProgress) =>
    crashPostgres({ crashes: counts.postgres, writesPerCrash, onProgress }),
  );
  const control = await run('PostgreSQL, synchronous_commit=off', counts.control, (onProgress) =>
    crashPostgres({
      crashes: counts.control,
      writesPerCrash,
      synchronousCommit: 'off',
      onProgress,
    }),
  );

  print([service, postgres, control]);
  const isKept = [service, postgres].every(({ lost, surplus }) => lost === 0 && surplus === 0);
  const isNoticed = control.lost > 0;
  process.stdout.write(
    `\n${isKept ? 'Nothing that was acknowledged was lost.' : 'Acknowledged users were LOST.'}\n` +
      `${isNoticed ? 'A loss is noticed: the last line has one, as it should.' : 'A loss would NOT have been noticed.'}\n`,
  );
  if (!isKept || !isNoticed) process.exitCode = 1;
}

/** One line that is written over on a terminal, one every few seconds elsewhere. */
function progressOf(what: string, total: number): (progress: Progress) => void {
  const startedMs = performance.now();
  const { isTTY } = process.stdout;
  let shownMs = 0;
  return ({ crashes, acknowledged }) => {
    const nowMs = performance.now();
    if (crashes < total && nowMs - shownMs < (isTTY ? 100 : 5_000)) return;
    shownMs = nowMs;
    const leftSeconds = ((nowMs - startedMs) / crashes) * ((total - crashes) / 1_000);
    const text =
      `${what}: ${count(crashes)} of ${count(total)} crashes, ` +
      `${count(acknowledged)} users acknowledged, ${Math.ceil(leftSeconds)} s left`;
    process.stdout.write(isTTY ? `\r\x1b[K${text}${crashes === total ? '\n' : ''}` : `${text}\n`);
  };
}

function print(lines: readonly Line[]): void {
  const columns = ['crashes', 'acknowledged', 'kept unanswered', 'lost', 'surplus'];
  const rows = lines.map(({ what, crashes, acknowledged, keptUnanswered, lost, surplus }) => [
    what,
    ...[crashes, acknowledged, keptUnanswered, lost, surplus].map(count),
  ]);
  process.stdout.write('\n');
  for (const [first = '', ...others] of [['kill -9 of', ...columns], ...rows]) {
    const cells = others.map((cell, at) => cell.padStart((columns[at]?.length ?? 0) + 2));
    process.stdout.write(`${first.padEnd(36)}${cells.join('')}\n`);
  }
}

function count(number: number): string {
  return number.toLocaleString('en');
}

await main();
