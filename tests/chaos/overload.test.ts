import path from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';

import { writeSection } from '../../deploy/local/testing/markdown.ts';
import { type Load, type Measurement, startExperiment } from './overload/experiment.ts';
import { recoveryMs } from './overload/load.ts';
import { type Row, renderOverload } from './overload/section.ts';

const FULL = Boolean(process.env.FULL);
const SECONDS = FULL ? 6 : 4;
const RECOVERY_SECONDS = 6;

const rows: Row[] = [];
let overload: Measurement;
let peak = 0;

type Run = (load: Load) => Promise<Measurement>;

/** The highest goodput at rising rates, up to the second rate of which a fifth is not served. */
async function findPeak(run: Run, load: Pick<Load, 'isDirect'> = {}): Promise<number> {
  let highest = 0;
  let overloads = 0;
  for (let perSecond = 400; overloads < 2; perSecond *= FULL ? 1.3 : 1.5) {
    const { goodput, offered } = (await run({ ...load, perSecond, seconds: SECONDS })).load;
    highest = Math.max(highest, goodput);
    if (goodput < 0.8 * offered) overloads++;
  }
  return highest;
}

async function measureEdge(run: Run): Promise<void> {
  peak = await findPeak(run);
  for (const factor of [1, 2, 5]) {
    const then = { perSecond: 0.5 * peak, seconds: RECOVERY_SECONDS };
    overload = await run({ perSecond: factor * peak, seconds: SECONDS, then });
    rows.push({ name: `edge, ${factor}×`, measurement: overload, peak });
  }
}

/** Without the edge, the service itself rejects requests. */
async function measureDirect(run: Run): Promise<void> {
  const isDirect = true;
  const directPeak = await findPeak(run, { isDirect });
  for (const factor of [1, 2, 5]) {
    const measurement = await run({ isDirect, perSecond: factor * directPeak, seconds: SECONDS });
    rows.push({ name: `directly, ${factor}×`, measurement, peak: directPeak });
  }
}

beforeAll(async () => {
  const experiment = await startExperiment();
  try {
    await measureEdge(experiment.run);
    if (FULL) await measureDirect(experiment.run);
  } finally {
    await experiment.stop();
  }
}, 900_000);

let hasFailed = false;
afterEach(({ task }) => {
  hasFailed ||= task.result?.state === 'fail';
});

afterAll(() => {
  const section = renderOverload(rows, {
    recoveryMs: recoveryMs(overload.result, SECONDS * 1_000),
  });
  console.log(section);
  const file = path.resolve(import.meta.dirname, '../../docs/failures.md');
  if (FULL && !hasFailed) writeSection(file, 'overload', section);
});

// The short form on a shared machine varies by half: these three limits are for the full form.
test.skipIf(!FULL)('goodput at five times the capacity is at least 90 % of the peak', () => {
  expect(overload.load.goodput / peak).toBeGreaterThanOrEqual(0.9);
});

test('every other response is 503 with Retry-After', () => {
  expect(overload.load.counts.rejected).toBeGreaterThan(0);
  expect(overload.load.counts).toMatchObject({ failed: 0 });
  expect(overload.load.counts.timedOut / overload.result.dueMs.length).toBeLessThan(0.01);
});

test('at least 99 % of health checks and critical requests are successful', () => {
  expect(overload.health).toBeGreaterThanOrEqual(0.99);
  expect(overload.critical).toBeGreaterThanOrEqual(0.99);
});

test.skipIf(!FULL)('at most 1 % of the work is done for clients that have left', () => {
  expect(overload.wasted).toBeLessThanOrEqual(0.01);
});

test.skipIf(!FULL)('5 s after the overload, at least 99 % of the requests are served', () => {
  expect(recoveryMs(overload.result, SECONDS * 1_000)).toBeLessThanOrEqual(5_000);
});
