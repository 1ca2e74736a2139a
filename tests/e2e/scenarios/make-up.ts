import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createClusterLaunch } from '../../../deploy/local/cluster/launch.ts';
import { readCluster } from '../../../deploy/local/cluster/record.ts';
import { removeFromCluster } from '../../../deploy/local/cluster/remove.ts';
import { stopSystem } from '../../../deploy/local/processes/launch.ts';
import { foldersOf } from '../../../deploy/local/state.ts';
import { freePortsFrom } from '../../../deploy/local/testing/ports.ts';
import { localTarget } from '../../contract/target.ts';
import { outsideChecks } from '../../smoke/smoke.ts';
import type { Scenario } from '../scenario.ts';

/** The cluster as a developer's own, through a port of this machine. */
export const makeUp: Scenario = {
  name: 'make-up',
  title: 'make up and make smoke hold on this cluster, and make down leaves nothing',
  seconds: 300,
  async run({ cluster, space, say, afterwards }) {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-make-up-'));
    const folders = foldersOf(root);
    const port = await freePortsFrom([0]);
    const env = { ...process.env, NAMESPACE: space.name };
    const options = { folders, port, backend: 'kubeconfig', env, say } as const;
    afterwards(async () => {
      await stopSystem(folders);
      fs.rmSync(root, { recursive: true, force: true });
    });

    await createClusterLaunch(options).up();
    say('asking for all that can be asked from outside');
    const target = localTarget(`http://127.0.0.1:${port}`, folders.run);
    for (const { title, run } of outsideChecks) {
      cluster.signal.throwIfAborted();
      await run(target).catch((cause) => {
        throw new Error(`${title}: ${cause instanceof Error ? cause.message : cause}`, { cause });
      });
    }
    say('starting it again, which changes nothing');
    await createClusterLaunch(options).up();

    say('removing it');
    const record = readCluster(folders.run);
    assert.ok(record, 'the cluster is written down');
    await removeFromCluster({ run: folders.run, record, clean: true });
    const left = await cluster.kubectl([
      ...['get', 'all,configmaps,secrets,persistentvolumeclaims,networkpolicies'],
      ...['--namespace', space.name, '--output=name', '--selector', 'app.kubernetes.io/part-of=fw'],
    ]);
    const kept = left.split('\n').filter((name) => name !== '' && !name.startsWith('pod/'));
    assert.deepEqual(kept, [], 'pods that end are all that is left');
  },
};
