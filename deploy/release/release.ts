import path from 'node:path';

import { CHARTS } from '../charts/folder.ts';
import { prepareLoad, runLoad } from '../k6/run.ts';
import { type Cluster, createCluster } from '../local/cluster/cluster.ts';
import { ignoreClosedOutput } from '../local/output.ts';
import { HELP, type ReleaseOptions, readOptions } from './options.ts';
import { tagValues } from './tags.ts';

/** A Helm release, as `helm list` prints it. */
interface Installed {
  readonly chart: string;
  readonly revision: string;
  readonly status: string;
}

/** The values of a release, as far as they are read here. */
interface InstalledValues {
  readonly global?: { readonly image?: { readonly tag?: string } };
}

/**
 * Upgrades a release and verifies the objectives with k6; rolls back if one is missed.
 *
 * @throws {Error} in one line, if the new version is not in use afterwards
 */
export async function release(options: ReleaseOptions): Promise<void> {
  const { release: name, namespace, profile, base } = options;
  const cluster = createCluster(new AbortController().signal);
  // An error after the upgrade would leave a version in use that nothing has verified.
  await prepareLoad({ profile, base });
  const installed = await requireInstalled(cluster, options);
  await refuseRollouts(cluster, options);

  console.log(`Upgrading ${name} in ${namespace} from revision ${installed.revision}`);
  await upgrade(cluster, options, installed);
  console.log(`Verifying the objectives with the k6 profile ${profile}`);
  const reason = await missedObjective({ base, profile });
  if (reason === undefined) {
    console.log(`Released: ${name} meets its objectives`);
    return;
  }
  await rollBack(cluster, options, { revision: installed.revision, reason });
}

/** @throws {Error} if there is no such release, or if its chart has no such service */
async function requireInstalled(cluster: Cluster, options: ReleaseOptions): Promise<Installed> {
  const { release: name, namespace, service } = options;
  const installed = await readInstalled(cluster, options);
  if (!installed) {
    throw new Error(`RELEASE is "${name}": expected a release that is installed in ${namespace}`);
  }
  const chart = chartOf(installed);
  if (service && chart !== 'platform' && chart !== service) {
    throw new Error(`SERVICE is "${service}": expected ${chart}, the chart of ${name}`);
  }
  return installed;
}

async function readInstalled(
  cluster: Cluster,
  { release: name, namespace }: ReleaseOptions,
): Promise<Installed | undefined> {
  const args = ['list', '--namespace', namespace, '--filter', `^${name}$`, '--output', 'json'];
  const [installed]: Installed[] = JSON.parse(await cluster.helm(args));
  return installed;
}

/** The name in `platform-1.2.3`. */
function chartOf({ chart }: Installed): string {
  return chart.replace(/-\d+\.\d+\.\d+.*$/, '');
}

/** Helm cannot wait for a Rollout: it would roll back after its time-out. */
async function refuseRollouts(
  cluster: Cluster,
  { release: name, namespace }: ReleaseOptions,
): Promise<void> {
  const manifest = await cluster.helm(['get', 'manifest', name, '--namespace', namespace]);
  if (!/^kind: Rollout$/m.test(manifest)) return;
  throw new Error(
    `Cannot release ${name}: it has Rollouts (progressiveDelivery.enabled), which verify each upgrade themselves`,
  );
}

/** Upgrades with the values of the installed release. Helm rolls back if the pods do not become ready. */
async function upgrade(
  cluster: Cluster,
  options: ReleaseOptions,
  installed: Installed,
): Promise<void> {
  const { release: name, namespace, tag, values, service } = options;
  const chart = chartOf(installed);
  const current = await cluster.helm([
    ...['get', 'values', name, '--namespace', namespace, '--output', 'json'],
  ]);
  const { global: shared } = Object(JSON.parse(current)) as InstalledValues;
  const tags = tagValues({ chart, tag, service, sharedTag: shared?.image?.tag ?? '' });
  try {
    await cluster.helm([
      ...['upgrade', name, path.join(CHARTS, chart), '--namespace', namespace],
      ...['--reset-then-reuse-values', '--rollback-on-failure'],
      ...['--wait', '--timeout', options.timeout],
      ...(values ? ['--values', values] : []),
      ...(tag ? ['--set-string', tags.join(',')] : []),
    ]);
  } catch (cause) {
    const after = await readInstalled(cluster, options).catch(() => undefined);
    const state =
      after?.revision === installed.revision
        ? 'nothing was changed'
        : after?.status === 'deployed'
          ? 'Helm rolled it back'
          : `its status is ${after?.status ?? 'unknown'}`;
    throw new Error(`Cannot upgrade ${name} (${state}): ${lastLineOf(cause)}`, { cause });
  }
}

/** @throws {Error} always: with the reason, and whether the old version is in use */
async function rollBack(
  cluster: Cluster,
  { release: name, namespace, timeout }: ReleaseOptions,
  { revision, reason }: { readonly revision: string; readonly reason: string },
): Promise<never> {
  console.log(`Rolling ${name} back to revision ${revision}: ${reason}`);
  try {
    await cluster.helm([
      ...['rollback', name, revision, '--namespace', namespace],
      ...['--wait', '--timeout', timeout],
    ]);
  } catch (cause) {
    throw new Error(
      `Cannot roll ${name} back to revision ${revision}, the new version may be in use (${reason}): ${lastLineOf(cause)}`,
      { cause },
    );
  }
  throw new Error(`Rolled back ${name} to revision ${revision}: ${reason}`);
}

function lastLineOf(error: unknown): string {
  return (error as Error).message.split('\n').at(-1) ?? '';
}

/** Why the objectives are missed; undefined if they are met. */
async function missedObjective(run: {
  base: string;
  profile: string;
}): Promise<string | undefined> {
  try {
    const { ok, failed, requests } = await runLoad(run);
    if (ok) return undefined;
    return `objectives were missed (those marked ✗); ${failed} of ${requests} requests failed`;
  } catch (error) {
    return (error as Error).message;
  }
}

/** `TAG=1.2.3 BASE=https://fw.example node release.ts`; exits with 1 if the version is not in use. */
if (import.meta.main) {
  ignoreClosedOutput();
  try {
    if (process.argv.includes('--help')) process.stdout.write(HELP);
    else await release(readOptions(process.env));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
