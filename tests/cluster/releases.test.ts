import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { runProgram } from '../../deploy/local/cluster/program.ts';
import { folders } from '../../deploy/local/state.ts';
import { describeMachine } from '../../deploy/local/testing/machine.ts';
import { markdownTable, writeSection } from '../../deploy/local/testing/markdown.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { forAllServices, installPlatform, type Platform, QUIET } from './platform.ts';
import { waitForPods } from './pods.ts';
import { ensureController } from './releases/controller.ts';
import { installPrometheus, PROMETHEUS_PEERS } from './releases/prometheus.ts';
import { type Outcome, waitForOutcome } from './releases/rollout.ts';
import {
  BAD_VERSIONS,
  HARMLESS_VERSIONS,
  LATE_VERSION,
  plantPrograms,
  type Version,
} from './releases/versions.ts';
import { startStream } from './stream.ts';
import { merge, type Values } from './values.ts';
import { createWorld } from './world.ts';

// One installation for all tests of this file, whose pods can load the programs of releases/planted.
const world = createWorld('releases');
const { cluster, settings, namespace, log } = world;
const { full } = settings;
let platform: Platform;

/** Runs `make release` with the smoke profile of k6; a slow machine must not miss objectives of latency. */
async function makeRelease(changes: Values): Promise<void> {
  const { base, secret, values, release } = platform;
  const file = path.join(folders.root, '.local', `${namespace}.json`);
  fs.writeFileSync(file, JSON.stringify(merge(values, changes)));
  onTestFinished(() => fs.rmSync(file, { force: true }));
  await runProgram('make', ['--silent', 'release'], {
    signal: cluster.signal,
    env: {
      ...process.env,
      ...{ VALUES: file, RELEASE: release.name, NAMESPACE: namespace, BASE: base },
      ...{ TAG: '', SERVICE: '', PROFILE: 'smoke', TIMEOUT: '60s' },
      ...{ JWT_SECRET: secret, LATENCY_FACTOR: '10' },
    },
  });
}

/** The values of a bad version. */
function valuesOfBad(name: string): Values {
  const version = BAD_VERSIONS.find((each) => each.name === name);
  assert.ok(version);
  return { [version.service]: version.values };
}

test('make release keeps a good version', async () => {
  const planted = await plantPrograms(world);
  platform = await installPlatform(world, merge(QUIET, forAllServices(planted)));

  await makeRelease({ users: { podAnnotations: { version: 'good' } } });

  expect(await platform.release.revision()).toBe(2);
});

test('make release rolls back a version that misses an objective', async () => {
  await expect(makeRelease(valuesOfBad('5xx'))).rejects.toThrow(
    'Rolled back fw to revision 2: objectives were missed',
  );

  expect(await platform.release.revision()).toBe(4);
});

test('make release rolls back a version whose pods do not become ready', async () => {
  await expect(makeRelease(valuesOfBad('broken migration'))).rejects.toThrow(
    'Cannot upgrade fw (Helm rolled it back)',
  );

  await platform.release.test();
});

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

test('Argo Rollouts replaces the Deployments, with the objectives of the charts', async () => {
  await ensureController(world);
  const address = await installPrometheus(world);
  const progressiveDelivery = {
    enabled: true,
    prometheus: { address },
    observationSeconds: OBSERVATION_SECONDS,
  };

  await platform.upgrade({
    global: { networkPolicy: { monitoringFrom: PROMETHEUS_PEERS } },
    ...forAllServices({ progressiveDelivery }),
  });

  for (const name of SERVICE_NAMES) await waitForOutcome(world, `fw-${name}`, LIMIT_SECONDS);
});

/** One version, and how its release ended. */
interface Released extends Outcome {
  readonly version: Version;
  readonly requests: number;
  readonly failed: number;
}

const released: Released[] = [];

/** Releases a version under load; one that is promoted stays. */
async function releaseVersion(version: Version): Promise<Released> {
  log(`releasing a version of ${version.service}: ${version.name}`);
  const rollout = `fw-${version.service}`;
  const changed = merge(platform.values, { [version.service]: version.values });
  const stream = startStream(world, platform, { rate: RATE });
  await platform.release.put(changed);
  const outcome = await waitForOutcome(world, rollout, LIMIT_SECONDS);
  if (outcome.isPromoted) {
    platform.values = changed;
  } else {
    await platform.release.put(platform.values);
    await waitForOutcome(world, rollout, LIMIT_SECONDS);
    // Open connections of the edge lead to pods of the version until these have terminated.
    if (outcome.servedSeconds > 0) await waitForPods(world, { part: version.service, count: 2 });
  }
  const { requests, failed } = (await stream.stop()).result;
  log(`after ${outcome.seconds.toFixed(1)} s: ${failed} of ${requests} failed; ${outcome.message}`);
  const one = { ...outcome, version, requests, failed };
  released.push(one);
  return one;
}

const TIMEOUT = { timeout: 2 * LIMIT_SECONDS * 1_000 };

test.each(full ? BAD_VERSIONS : BAD_VERSIONS.slice(0, 2))(
  'a version with the bug "$name" is rolled back before users get it',
  TIMEOUT,
  async (version) => {
    const { isPromoted, message, seconds, servedSeconds, failed, requests } =
      await releaseVersion(version);

    expect({ isPromoted, servedSeconds }).toEqual({ isPromoted: false, servedSeconds: 0 });
    const isUnready = message.includes('timed out');
    expect(seconds).toBeLessThan(isUnready ? MAX_UNREADY_SECONDS : MAX_ROLLBACK_SECONDS);
    expect(failed).toBeLessThanOrEqual(MAX_AFFECTED * requests);
  },
);

test.runIf(full)('a version that fails only after its trial is rolled back', TIMEOUT, async () => {
  const { isPromoted, failed, requests } = await releaseVersion(LATE_VERSION);

  expect(isPromoted).toBe(false);
  expect(failed).toBeLessThanOrEqual(MAX_AFFECTED * requests);
});

test.each(full ? HARMLESS_VERSIONS : HARMLESS_VERSIONS.slice(0, 1))(
  'a harmless version is promoted: $name',
  TIMEOUT,
  async (version) => {
    const { isPromoted, failed, message } = await releaseVersion(version);

    expect({ isPromoted, failed }, message).toEqual({ isPromoted: true, failed: 0 });
  },
);

test.runIf(full)('the page about releases contains the results', () => {
  const rows = released.map(({ version, isPromoted, message, seconds, servedSeconds, ...sent }) => [
    version.name,
    version.service,
    isPromoted ? 'promoted' : `rolled back: ${reasonOf(message)}`,
    `${seconds.toFixed(0)} s`,
    `${servedSeconds.toFixed(0)} s`,
    sent.requests.toLocaleString('en'),
    String(sent.failed),
  ]);
  const head = ['Version', 'Service', 'End', 'After', 'In use for', 'Requests', 'Failed'];
  const page = path.join(folders.root, 'docs/operations/releases.md');
  writeSection(page, 'releases', `${describeMachine()}\n\n${markdownTable(head, rows)}`);
});

/** The measurement that failed, or another reason in the message of the controller. */
function reasonOf(message: string): string {
  if (message.includes('timed out')) return 'not ready in time';
  return /Metric "([^"]+)"/.exec(message)?.[1] ?? message;
}
