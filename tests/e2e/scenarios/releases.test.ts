import assert from 'node:assert/strict';
import path from 'node:path';

import { merge, type Values } from '../../../deploy/local/cluster/values.ts';
import { describeMachine } from '../../../deploy/local/testing/machine.ts';
import { markdownTable, writeSection } from '../../../deploy/local/testing/markdown.ts';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { forAllServices } from '../changes.ts';
import { installPlatform, type Platform } from '../platform.ts';
import { ensureController } from '../releases/controller.ts';
import { installPrometheus, PROMETHEUS_PEERS } from '../releases/prometheus.ts';
import { type Outcome, waitForOutcome } from '../releases/rollout.ts';
import {
  BAD_VERSIONS,
  HARMLESS_VERSIONS,
  LATE_VERSION,
  plantPrograms,
  type Version,
} from '../releases/versions.ts';
import { scenario, type World } from '../scenario.ts';
import { readSettings } from '../settings.ts';
import { startStream } from '../stream.ts';

/** All versions take half an hour. */
const { full } = readSettings(process.env);
const VERSIONS = full
  ? [...BAD_VERSIONS, LATE_VERSION, ...HARMLESS_VERSIONS]
  : [...BAD_VERSIONS.slice(0, 2), ...HARMLESS_VERSIONS.slice(0, 1)];

/** The page with the results of the full form. */
const DOCUMENT = path.resolve(import.meta.dirname, '../../../docs/operations/releases.md');

/** In the full form, long enough for the errors of the late version, which begin 60 s after its start. */
const OBSERVATION_SECONDS = full ? 40 : 15;
/** Requests per second of users during each release. */
const RATE = 40;
/** A release is decided within this time: trial, switch and observation. */
const LIMIT_SECONDS = 180;
/** Seconds in which a bad version must be rolled back, from the start of its first pod. */
const MAX_ROLLBACK_SECONDS = 60;
/** The same for a version that is not ready in time: 10 s more than `progressDeadlineSeconds`. */
const MAX_UNREADY_SECONDS = 130;
/** Share of the requests that a bad version may affect. */
const MAX_AFFECTED = 0.005;

scenario({
  name: 'releases',
  title: 'bad versions are rolled back, and harmless versions are promoted',
  seconds: 180 + VERSIONS.length * LIMIT_SECONDS,
  async run(world) {
    await ensureController(world);
    const address = await installPrometheus(world);
    const platform = await installPlatform(
      world,
      merge(
        { global: { networkPolicy: { monitoringFrom: PROMETHEUS_PEERS } } },
        forAllServices({
          ...(await plantPrograms(world)),
          config: { LOG_LEVEL: 'warn' },
          progressiveDelivery: {
            enabled: true,
            prometheus: { address },
            observationSeconds: OBSERVATION_SECONDS,
          },
        }),
      ),
    );
    for (const name of SERVICE_NAMES) await waitForOutcome(world, `fw-${name}`, LIMIT_SECONDS);
    const releases: Released[] = [];
    let { values } = platform;
    for (const version of VERSIONS) {
      const released = await releaseVersion(world, platform, version, values);
      releases.push(released);
      if (released.isPromoted) values = merge(values, { [version.service]: version.values });
    }
    const table = render(releases);
    console.log(table);
    assert.deepEqual(releases.flatMap(problemsOf), []);
    if (full) writeSection(DOCUMENT, 'releases', `${describeMachine()}\n\n${table}`);
  },
});

/** One version, and how its release ended. */
interface Released extends Outcome {
  readonly version: Version;
  readonly requests: number;
  readonly failed: number;
}

/** Releases a version under load. `before`: the values of the version in use. */
async function releaseVersion(
  world: World,
  platform: Platform,
  version: Version,
  before: Values,
): Promise<Released> {
  const { log } = world;
  log(`releasing a version of ${version.service}: ${version.name}`);
  const rollout = `fw-${version.service}`;
  const stream = startStream(world, platform, { rate: RATE });
  await platform.release.upgrade(merge(before, { [version.service]: version.values }));
  const outcome = await waitForOutcome(world, rollout, LIMIT_SECONDS);
  if (!outcome.isPromoted) {
    // Open connections of the edge lead to pods of the version until these have terminated.
    await platform.release.upgrade(before);
    await waitForOutcome(world, rollout, LIMIT_SECONDS);
  }
  const { result } = await stream.stop();
  log(
    `${outcome.isPromoted ? 'promoted' : 'rolled back'} after ${outcome.seconds.toFixed(1)} s; ` +
      `${result.failed} of ${result.requests} requests failed; ${outcome.message}`,
  );
  return { ...outcome, version, requests: result.requests, failed: result.failed };
}

/** What is wrong with the end of a release. */
function problemsOf(released: Released): string[] {
  const { version, isPromoted, message, seconds, servedSeconds, failed, requests } = released;
  const isHarmless = HARMLESS_VERSIONS.includes(version);
  const isLate = version === LATE_VERSION;
  const limit = isUnready(message) ? MAX_UNREADY_SECONDS : MAX_ROLLBACK_SECONDS;
  const problems = [
    isPromoted && !isHarmless && 'was promoted',
    !isPromoted && isHarmless && `was rolled back: ${message}`,
    servedSeconds > 0 && !isLate && `got requests of users for ${servedSeconds} s`,
    seconds > limit && !isHarmless && !isLate && `was decided after ${seconds} s`,
    failed > MAX_AFFECTED * requests && `${failed} of ${requests} requests failed`,
  ];
  return problems.filter(Boolean).map((problem) => `${version.name}: ${problem}`);
}

/** A table of all releases. */
function render(releases: readonly Released[]): string {
  const rows = releases.map(({ version, isPromoted, ...released }) => [
    version.name,
    version.service,
    isPromoted ? 'promoted' : `rolled back: ${reasonOf(released.message)}`,
    `${released.seconds.toFixed(0)} s`,
    `${released.servedSeconds.toFixed(0)} s`,
    released.requests.toLocaleString('en'),
    String(released.failed),
  ]);
  const head = ['Version', 'Service', 'End', 'After', 'In use for', 'Requests', 'Failed'];
  return markdownTable(head, rows);
}

function isUnready(message: string): boolean {
  return message.includes('timed out');
}

/** The measurement that failed, or another reason in the message of the controller. */
function reasonOf(message: string): string {
  if (isUnready(message)) return 'not ready in time';
  return /Metric "([^"]+)"/.exec(message)?.[1] ?? message;
}
