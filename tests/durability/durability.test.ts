import { expect, test } from 'vitest';

import { crashPostgres, crashService, type Progress } from './crashes.ts';
import type { Audit } from './ledger.ts';

/** `make durability` runs the long version; its project sets FULL. */
const { serviceCrashes, postgresCrashes, controlCrashes, writesPerCrash } = process.env.FULL
  ? { serviceCrashes: 1_000, postgresCrashes: 15, controlCrashes: 3, writesPerCrash: 1_500 }
  : { serviceCrashes: 5, postgresCrashes: 2, controlCrashes: 1, writesPerCrash: 200 };

test('every acknowledged user survives kill -9 of the service', async () => {
  const crashes = serviceCrashes;

  const audit = await crashService({ crashes, onProgress: progressOf('service', crashes) });

  report(audit);
  expect(audit).toMatchObject({ lost: 0, surplus: 0 });
  expect(audit.acknowledged).toBeGreaterThanOrEqual(crashes);
});

test('every acknowledged user survives kill -9 of PostgreSQL', async () => {
  const crashes = postgresCrashes;

  const audit = await crashPostgres({
    crashes,
    writesPerCrash,
    onProgress: progressOf('PostgreSQL', crashes),
  });

  report(audit);
  expect(audit).toMatchObject({ lost: 0, surplus: 0 });
  expect(audit.acknowledged).toBeGreaterThanOrEqual(crashes * writesPerCrash);
});

// The server may write the last user to disk just before the crash, so this test is retried.
test('a loss is detected if PostgreSQL acknowledges before it writes to disk', {
  retry: 2,
}, async () => {
  const crashes = controlCrashes;

  const audit = await crashPostgres({
    crashes,
    writesPerCrash,
    synchronousCommit: 'off',
    onProgress: progressOf('PostgreSQL with synchronous_commit=off', crashes),
  });

  report(audit);
  expect(audit.lost).toBeGreaterThan(0);
});

/** Prints a line every five seconds in the long version. */
function progressOf(target: string, total: number): (progress: Progress) => void {
  const startedMs = performance.now();
  let printedMs = startedMs;
  return ({ crashes, acknowledged }) => {
    const nowMs = performance.now();
    if (!process.env.FULL || (crashes < total && nowMs - printedMs < 5_000)) return;
    printedMs = nowMs;
    const leftSeconds = Math.ceil(((nowMs - startedMs) / crashes) * ((total - crashes) / 1_000));
    console.log(
      `${target}: ${crashes} of ${total} crashes, ${acknowledged} users acknowledged, ${leftSeconds} s left`,
    );
  };
}

function report({ acknowledged, keptWithoutResponse, lost, surplus }: Audit): void {
  if (!process.env.FULL) return;
  console.log(
    `${acknowledged} acknowledged, ${keptWithoutResponse} kept without a response, ${lost} lost, ${surplus} surplus`,
  );
}
