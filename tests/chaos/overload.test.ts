import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { median } from '../../deploy/local/testing/statistics.ts';
import { measureStolenTime } from '../stolen-time.ts';
import {
  type Experiment,
  type Measurement,
  startExperiment,
  TRAEFIK,
  type Way,
} from './overload/experiment.ts';
import { recoveryMs } from './overload/load.ts';
import { goodputShare, renderOverload, type Sample } from './overload/section.ts';
import { FULL, writeResultsOf } from './results.ts';

const ROUNDS = FULL ? 7 : 3;
const SECONDS = 4;

/** The least goodput, as a share of the peak. The few rounds of the short form only show that it does not collapse. */
const MIN_GOODPUT = FULL ? 0.9 : 0.5;

const RECOVERY_SECONDS = 6;

/**
 * The rates of the requests, as multiples of the capacity. In the short form, the core that the edge and
 * the clients share can serve the highest rate on a slow machine too.
 */
const MOST = FULL ? 5 : 3;
const FACTORS = [1, 2, MOST];

/** The ways with a limit of the requests in flight: only they must reach the goals. */
const LIMITED: readonly Way[] = ['edge', 'gateway with limit'];

/** Traefik takes much more time of the core of the clients than nginx: the short form measures the edge only. */
const MEASURED: readonly Way[] = FULL
  ? ['edge', 'directly', ...(TRAEFIK ? (['gateway with limit', 'gateway'] as const) : [])]
  : ['edge'];

/** With more stolen time, the medians of the rounds depend on the other virtual machines. */
const MAX_STOLEN = 0.25;

const samples: Sample[] = [];
/** The share of the wanted processor time that other virtual machines used. */
let stolen = 0;

async function measure({ measureCapacity, run }: Experiment, way: Way): Promise<void> {
  const capacity = await measureCapacity(way);
  const recovery = { perSecond: 0.5 * capacity, seconds: RECOVERY_SECONDS };
  const measurements: Measurement[] = [];
  for (const factor of FACTORS) {
    const load = { way, perSecond: factor * capacity, seconds: SECONDS };
    measurements.push(await run(factor === MOST ? { ...load, recovery } : load));
  }
  const peak = Math.max(...measurements.slice(0, -1).map(({ load }) => load.goodput));
  for (const [index, measurement] of measurements.entries()) {
    samples.push({ name: `${way}, ${FACTORS[index]}×`, measurement, peak });
  }
  // If it is long, the clients or the proxy on their core were too slow to send the load.
  const lateMs = Math.max(...measurements.map(({ result }) => result.maxLateMs));
  console.log(`overload: ${way}: requests were sent up to ${lateMs.toFixed()} ms late`);
}

beforeAll(async () => {
  const experiment = await startExperiment(MEASURED);
  const readStolenTime = measureStolenTime();
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      for (const way of MEASURED) await measure(experiment, way);
      console.log(`overload: round ${round} of ${ROUNDS}`);
    }
    stolen = readStolenTime();
  } finally {
    await experiment.stop();
  }
}, 1_800_000);

/** The median over the rounds at the highest rate. */
function medianOf(way: Way, read: (sample: Sample) => number): number {
  return median(samples.filter(({ name }) => name === `${way}, ${MOST}×`).map(read));
}

const recovery = (way: Way) =>
  medianOf(way, ({ measurement: { result } }) => recoveryMs(result, SECONDS * 1_000));
const render = () =>
  renderOverload(samples, {
    recoveryMs: Math.max(...LIMITED.filter((way) => MEASURED.includes(way)).map(recovery)),
    stolen,
  });

afterAll(() => console.log(render()));
writeResultsOf(11, 'overload', render);

test('no request fails in another way', () => {
  for (const { measurement } of samples) expect(measurement.load.counts.failed).toBe(0);
});

describe.each(LIMITED)('through the %s', (way) => {
  /** A test of a limit that holds only while the capacity of the machine does not change. */
  function testLimit(title: string, check: () => void): void {
    test(title, ({ skip }) => {
      skip(
        !MEASURED.includes(way),
        FULL ? 'traefik is not on the PATH' : 'only the full form measures this way',
      );
      const percent = `${(100 * stolen).toFixed()} %`;
      skip(
        stolen > MAX_STOLEN,
        `other virtual machines used ${percent} of the wanted processor time`,
      );
      check();
    });
  }

  testLimit(
    `goodput at ${MOST} times the capacity is at least ${100 * MIN_GOODPUT} % of the peak`,
    () => {
      expect(medianOf(way, goodputShare)).toBeGreaterThanOrEqual(MIN_GOODPUT);
    },
  );

  testLimit('requests that are not served are rejected within a second', () => {
    expect(medianOf(way, ({ measurement: { load } }) => load.counts.rejected)).toBeGreaterThan(0);
    expect(
      medianOf(
        way,
        ({ measurement: { load, result } }) => load.counts.timedOut / result.dueMs.length,
      ),
    ).toBeLessThan(0.01);
  });

  testLimit('at least 99 % of health checks and critical requests are successful', () => {
    expect(medianOf(way, ({ measurement }) => measurement.health)).toBeGreaterThanOrEqual(0.99);
    expect(medianOf(way, ({ measurement }) => measurement.critical)).toBeGreaterThanOrEqual(0.99);
  });

  testLimit('at most 1 % of the work is done for clients that have left', () => {
    expect(medianOf(way, ({ measurement }) => measurement.wasted)).toBeLessThanOrEqual(0.01);
  });

  testLimit('5 s after the overload, at least 99 % of the requests are served', () => {
    expect(recovery(way)).toBeLessThanOrEqual(5_000);
  });
});
