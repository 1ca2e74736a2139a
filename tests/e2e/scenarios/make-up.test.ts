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
import { readOrCreateSecret } from '../../../deploy/local/token.ts';
import { checkSystem } from '../../check-system.ts';
import { scenario } from '../scenario.ts';

scenario({
  name: 'make-up',
  title: 'make up and make smoke succeed on this cluster, and make down leaves nothing',
  seconds: 300,
  async run({ cluster, namespace, log, onCleanUp }) {
    const root = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-make-up-'));
    const folders = foldersOf(root);
    const port = await freePortsFrom([0]);
    const env = { ...process.env, NAMESPACE: namespace };
    const options = { folders, port, backend: 'kubeconfig', env, log } as const;
    onCleanUp(async () => {
      await stopSystem(folders);
      fs.rmSync(root, { recursive: true, force: true });
    });

    await createClusterLaunch(options).up();
    log('running the contract and smoke tests');
    const secret = readOrCreateSecret(folders.run);
    await checkSystem({ base: `http://127.0.0.1:${port}`, secret }, cluster.signal);
    log('starting it again, without changes');
    await createClusterLaunch(options).up();

    log('removing it');
    const record = readCluster(folders.run);
    assert.ok(record, 'make up recorded the cluster');
    await removeFromCluster({ run: folders.run, record, clean: true });
    const left = await cluster.kubectl([
      ...['get', 'all,configmaps,secrets,persistentvolumeclaims,networkpolicies'],
      ...['--namespace', namespace, '--output=name', '--selector', 'app.kubernetes.io/part-of=fw'],
    ]);
    const kept = left.split('\n').filter((name) => name !== '' && !name.startsWith('pod/'));
    assert.deepEqual(kept, [], 'only terminating pods are left');
  },
});
