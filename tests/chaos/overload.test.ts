import { afterAll, beforeAll, expect, test } from 'vitest';

import { type Load, type Measurement, startExperiment } from './overload/experiment.ts';
import { recoveryMs } from './overload/load.ts';
import { type Row, renderOverload } from './overload/section.ts';
import { measureStolenTime } from './overload/stolen-time.ts';
import { FULL, writeResultsOf } from './results.ts';

const SECONDS = FULL ? 6 : 4;
const RECOVERY_SECONDS = 6;

/** With more stolen time, the capacity of the machine changes during the test. */
const MAX_STOLEN = 0.05;

const rows: Row[] = [];
let overload: Measurement;
let peak = 0;
/** The share of the processor time that other virtual machines used. */
let stolen = 0;

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
  const readStolenTime = measureStolenTime();
  try {
    await measureEdge(experiment.run);
    if (FULL) await measureDirect(experiment.run);
    stolen = readStolenTime();
  } finally {
    await experiment.stop();
  }
}, 900_000);

const render = () =>
  renderOverload(rows, { recoveryMs: recoveryMs(overload.result, SECONDS * 1_000), stolen });

afterAll(() => console.log(render()));
writeResultsOf(6, 'overload', render);

/** A test of a limit that holds only while the capacity of the machine does not change. */
function testLimit(title: string, check: () => void): void {
  test(title, ({ skip }) => {
    const percent = `${(100 * stolen).toFixed()} %`;
    skip(stolen > MAX_STOLEN, `other virtual machines used ${percent} of the processor time`);
    check();
  });
}

testLimit('goodput at five times the capacity is at least 90 % of the peak', () => {
  expect(overload.load.goodput / peak).toBeGreaterThanOrEqual(0.9);
});

testLimit('every other response is 503 with Retry-After', () => {
  expect(overload.load.counts.rejected).toBeGreaterThan(0);
  expect(overload.load.counts.timedOut / overload.result.dueMs.length).toBeLessThan(0.01);
});

test('no request fails in another way', () => {
  expect(overload.load.counts).toMatchObject({ failed: 0 });
});

testLimit('at least 99 % of health checks and critical requests are successful', () => {
  expect(overload.health).toBeGreaterThanOrEqual(0.99);
  expect(overload.critical).toBeGreaterThanOrEqual(0.99);
});

testLimit('at most 1 % of the work is done for clients that have left', () => {
  expect(overload.wasted).toBeLessThanOrEqual(0.01);
});

testLimit('5 s after the overload, at least 99 % of the requests are served', () => {
  expect(recoveryMs(overload.result, SECONDS * 1_000)).toBeLessThanOrEqual(5_000);
});
