import { type Launch, stopSystem } from '../processes/launch.ts';
import { readOrCreateSecret } from '../token.ts';
import { waitFor } from './cluster.ts';
import { clusterOf, installPlatform, platformValues } from './install.ts';
import {
  createKind,
  deleteKind,
  type KindCluster,
  type KindOptions,
  planKind,
  prepareImages,
  readKind,
  requireRunningNode,
  writeKind,
} from './kind.ts';
import { runProgram } from './program.ts';

/** Prepares the start of the system on a kind cluster. */
export function createKindLaunch(
  port: number,
  { folders, env, log }: Omit<KindOptions, 'signal'>,
): Launch {
  const { run } = folders;
  const before = readKind(run);
  const address = `http://localhost:${port}`;
  const interrupted = new AbortController();
  const options = { folders, env, log, signal: interrupted.signal };
  let starting = Promise.resolve();

  async function up(): Promise<void> {
    if (before && before.address !== address) {
      throw new Error(
        `The system runs at ${before.address}: "make down" first, then choose another PORT`,
      );
    }
    // Rejects invalid variables before the first change.
    platformValues(env);
    if (before) {
      await requireRunningNode(before);
      await waitForApi(before);
    }
    const kind = before ?? (await planKind(port));
    const { names, created, ids } = await prepareImages(options);
    const record = { ...kind, images: [...kind.images, ...created] };
    if (before) writeKind(run, record);
    else await createKind(record, options);
    log(`Loading ${names.join(', ')}`);
    const load = ['load', 'docker-image', ...names, '--name', kind.name];
    await runProgram('kind', load, { signal: interrupted.signal, seconds: 300 });
    const values = platformValues(env, { imageIds: ids, tokenSecret: readOrCreateSecret(run) });
    await installPlatform(values, address, options);
  }

  /** Waits for the API of a cluster whose node was started just now. */
  async function waitForApi({ name }: KindCluster): Promise<void> {
    const cluster = clusterOf(run, interrupted.signal);
    const wait = { cluster, what: `the kind cluster ${name}`, seconds: 120 };
    await waitFor(wait, () => cluster.kubectl(['get', '--raw', '/readyz']));
  }

  async function undo(): Promise<void> {
    interrupted.abort(new Error('Interrupted'));
    await starting.catch(() => {});
    const created = readKind(run);
    // The cluster of an earlier start stays.
    if (before) return;
    if (created) await deleteKind(run, created);
    await stopSystem(folders);
  }

  return {
    up: () => {
      starting = up();
      return starting;
    },
    undo,
  };
}
