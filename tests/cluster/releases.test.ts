import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { describe, expect, onTestFailed, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { runProgram } from '../../deploy/local/cluster/program.ts';
import { folders } from '../../deploy/local/state.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import {
  assertResponds,
  forAllServices,
  installPlatform,
  type Platform,
  QUIET,
} from './platform.ts';
import { waitForPods } from './pods.ts';
import { ensureController } from './releases/controller.ts';
import { installPrometheus, PROMETHEUS_PEERS } from './releases/prometheus.ts';
import { type Outcome, waitForOutcome } from './releases/rollout.ts';
import { installTraefik, TRAEFIK_PEERS } from './releases/traefik.ts';
import {
  BAD_VERSIONS,
  HARMLESS_VERSIONS,
  LATE_VERSIONS,
  MARK,
  plantProgram,
  type Version,
} from './releases/versions.ts';
import { startStream } from './stream.ts';
import { merge, type Values } from './values.ts';
import { createWorld } from './world.ts';

// One installation for all tests of this file, whose pods can load the program releases/planted.ts.
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
  const planted = await plantProgram(world);
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

/** In the full form, long enough for the errors of the late version, which begin 60 s after its start; a canary has three steps. */
const OBSERVATION_SECONDS = { blueGreen: full ? 40 : 15, canary: full ? 25 : 15 };
/** Requests per second of users during each release. */
const RATE = 40;
/** A release is decided within this time: trial, switch or steps, and observation. */
const LIMIT_SECONDS = 180;
/** Seconds in which a bad version must be rolled back, from the start of its first pod. */
const MAX_ROLLBACK_SECONDS = 60;
/** The same for a version that is not ready in time: 10 s more than `progressDeadlineSeconds`. */
const MAX_UNREADY_SECONDS = 130;
/** Share of the requests that may fail because of a version whose bug the trial can find. */
const MAX_AFFECTED = 0.005;
/** With another bug, all requests that the version gets may fail for this time. */
const MAX_FAILING_SECONDS = 30;

/** How versions replace each other. */
const STRATEGIES = ['blueGreen', 'canary'] as const;
const { STRATEGY } = process.env;
/** The example with the objects of Traefik that divide the requests. */
const CANARY: Values = parse(
  fs.readFileSync(path.join(folders.root, 'deploy/charts/examples/canary-traefik.yaml'), 'utf8'),
);

/** One version, and how its release ended. */
interface Released extends Outcome {
  readonly requests: number;
  readonly failed: number;
  /** Requests that the version responded to, if it is a planted one. */
  readonly reached: number;
}

const TIMEOUT = { timeout: 2 * LIMIT_SECONDS * 1_000 };

let prometheus: Values | undefined;

describe.each(STRATEGIES.filter((name) => !STRATEGY || STRATEGY === name))('%s', (strategy) => {
  let base: string;

  /** Releases a version under load; one that is promoted stays. */
  async function releaseVersion(version: Version): Promise<Released> {
    log(`releasing a version of ${version.service}: ${version.name}`);
    const rollout = `fw-${version.service}`;
    // Another strategy may have released the same version.
    const values = merge(version.values, { podAnnotations: { strategy } });
    const changed = merge(platform.values, { [version.service]: values });
    const { secret } = platform;
    const stream = startStream(world, { base, secret }, { rate: RATE, countHeader: MARK });
    onTestFailed(() => void stream.stop().catch(() => {}));
    await platform.release.put(changed);
    const outcome = await waitForOutcome(world, rollout, LIMIT_SECONDS);
    if (outcome.isPromoted) {
      platform.values = changed;
    } else {
      await platform.release.put(platform.values);
      await waitForOutcome(world, rollout, LIMIT_SECONDS);
      // Open connections of the edge lead to pods of the version until these have terminated.
      if (outcome.servedSeconds > 0) {
        await waitForPods(world, { part: version.service, count: 2 });
      }
    }
    const { requests, failed, withHeader: reached } = await stream.stop();
    const sent = `${failed} of ${requests} failed, ${reached} reached it`;
    log(`after ${outcome.seconds.toFixed(1)} s: ${sent}; ${outcome.message}`);
    return { ...outcome, requests, failed, reached };
  }

  test('Argo Rollouts replaces all pods, with the objectives of the charts', async () => {
    await ensureController(world);
    prometheus ??= { address: await installPrometheus(world) };
    const isCanary = strategy === 'canary';
    base = isCanary ? await installTraefik(world) : platform.base;
    const observationSeconds = OBSERVATION_SECONDS[strategy];

    await platform.upgrade(
      merge(isCanary ? CANARY : {}, {
        global: {
          networkPolicy: { monitoringFrom: PROMETHEUS_PEERS, from: TRAEFIK_PEERS },
          progressiveDelivery: { enabled: true, strategy, prometheus, observationSeconds },
          // The kinds of the Prometheus operator.
          metrics: { serviceMonitor: { enabled: false } },
        },
      }),
    );

    for (const service of SERVICE_NAMES) {
      await waitForOutcome(world, `fw-${service}`, LIMIT_SECONDS);
    }
    const what = `responses of every service at ${base}`;
    await waitFor({ cluster, what, seconds: 60 }, () => assertResponds({ ...platform, base }, []));
  });

  test.each(full ? BAD_VERSIONS : BAD_VERSIONS.slice(0, 2))(
    'a version with the bug "$name" is rolled back before users get it',
    TIMEOUT,
    async (version) => {
      const { isPromoted, message, seconds, servedSeconds, reached, failed, requests } =
        await releaseVersion(version);

      expect({ isPromoted, servedSeconds, reached }).toEqual({
        ...{ isPromoted: false, servedSeconds: 0, reached: 0 },
      });
      const isUnready = message.includes('timed out');
      expect(seconds).toBeLessThan(isUnready ? MAX_UNREADY_SECONDS : MAX_ROLLBACK_SECONDS);
      expect(failed).toBeLessThanOrEqual(MAX_AFFECTED * requests);
    },
  );

  test.each(full ? LATE_VERSIONS : [])(
    'a version that fails only after its trial is rolled back: $name',
    TIMEOUT,
    async (version) => {
      const { isPromoted, failed, percent, reached } = await releaseVersion(version);

      expect(isPromoted).toBe(false);
      expect(reached).toBeGreaterThan(0);
      expect(failed).toBeLessThanOrEqual((percent / 100) * RATE * MAX_FAILING_SECONDS);
    },
  );

  test.each(full ? HARMLESS_VERSIONS : HARMLESS_VERSIONS.slice(0, 1))(
    'a harmless version is promoted: $name',
    TIMEOUT,
    async (version) => {
      const { isPromoted, failed, message } = await releaseVersion(version);

      expect({ isPromoted, failed }, message).toEqual({ isPromoted: true, failed: 0 });
    },
  );
});
