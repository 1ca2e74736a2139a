import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { runProgram } from '../../../deploy/local/cluster/program.ts';
import { merge, type Values } from '../../../deploy/local/cluster/values.ts';
import { folders } from '../../../deploy/local/state.ts';
import { forAllServices } from '../changes.ts';
import { installPlatform, type Platform } from '../platform.ts';
import { BAD_VERSIONS, plantPrograms } from '../releases/versions.ts';
import { scenario, type World } from '../scenario.ts';

scenario({
  name: 'release',
  title: 'make release keeps a good version, and rolls back one that fails or never becomes ready',
  seconds: 420,
  async run(world) {
    const { log } = world;
    const quiet = { ...(await plantPrograms(world)), config: { LOG_LEVEL: 'warn' } };
    const platform = await installPlatform(world, forAllServices(quiet));
    const { release } = platform;

    log('releasing a good version');
    await makeRelease(world, platform, { users: { podAnnotations: { version: 'good' } } });
    assert.equal(await release.revision(), 2);

    log('releasing a version of users that sends 5xx');
    await assert.rejects(
      makeRelease(world, platform, valuesOfBad('5xx')),
      /Rolled back fw to revision 2: objectives were missed/,
    );
    assert.equal(await release.revision(), 4, 'an upgrade and a rollback');

    log('releasing a version of catalog that cannot migrate');
    await assert.rejects(
      makeRelease(world, platform, valuesOfBad('broken migration')),
      /Cannot upgrade fw \(Helm rolled it back\)/,
    );
    await release.test();
  },
});

/** The values of a bad version. */
function valuesOfBad(name: string): Values {
  const version = BAD_VERSIONS.find((each) => each.name === name);
  assert.ok(version);
  return { [version.service]: version.values };
}

/** Runs `make release` with the smoke profile of k6; a slow machine must not miss objectives of latency. */
async function makeRelease(
  { cluster, namespace }: World,
  { base, secret, values, release }: Platform,
  changes: Values,
): Promise<void> {
  const file = path.join(folders.root, '.local', `${namespace}.json`);
  fs.writeFileSync(file, JSON.stringify(merge(values, changes)));
  try {
    const given = { VALUES: file, RELEASE: release.name, NAMESPACE: namespace, BASE: base };
    await runProgram('make', ['--silent', 'release'], {
      signal: cluster.signal,
      env: {
        ...process.env,
        ...given,
        ...{ TAG: '', SERVICE: '', PROFILE: 'smoke', TIMEOUT: '60s' },
        ...{ JWT_SECRET: secret, LATENCY_FACTOR: '10' },
      },
    });
  } finally {
    fs.rmSync(file);
  }
}
