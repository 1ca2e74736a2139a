import dgram from 'node:dgram';
import { once } from 'node:events';
import net from 'node:net';

import { expect, onTestFinished, test } from 'vitest';

import { runProgram } from '../../deploy/local/cluster/program.ts';
import { scriptOf, startRegistry } from '../publish/registry.ts';
import { readNodes } from './nodes.ts';
import { nodeImage, provideVolumes } from './volumes.ts';
import { createNamespace, createWorld, newName, removeNamespace } from './world.ts';

const world = createWorld('registry');
const { cluster, namespace, settings } = world;

/** The address of this machine for the nodes. */
async function addressForNodes(): Promise<string> {
  const [node] = await readNodes(cluster);
  const address = node?.status.addresses.find(({ type }) => type === 'InternalIP')?.address;
  const socket = dgram.createSocket('udp4');
  socket.connect(9, address);
  await once(socket, 'connect');
  const own = socket.address().address;
  socket.close();
  return own;
}

/**
 * Forwards a port on the loopback address of every node to the same port on that of this machine: nodes pull from
 * there without TLS. This machine listens on the address `host`, which the nodes reach.
 */
async function forwardFromNodes(port: number, host: string): Promise<void> {
  const server = net.createServer((near) => {
    const far = net.connect(port, '127.0.0.1');
    near.pipe(far).pipe(near);
    near.on('error', () => far.destroy());
    far.on('error', () => near.destroy());
  });
  onTestFinished(() => void server.close());
  await once(server.listen(port, host), 'listening');
  const forwarders = newName('forwarders');
  world.onCleanUp((cluster) => removeNamespace(cluster, forwarders));
  await createNamespace(cluster, forwarders, 'privileged');
  const labels = { app: 'forwarder' };
  const script = `require('net').createServer((near) => {
    const far = require('net').connect(${port}, '${host}', () => { near.pipe(far); far.pipe(near); });
    near.on('error', () => far.destroy()); far.on('error', () => near.destroy());
  }).listen(${port}, '127.0.0.1')`;
  await cluster.apply({
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'forwarder', namespace: forwarders },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          hostNetwork: true,
          containers: [
            {
              name: 'forwarder',
              image: nodeImage(settings),
              command: ['node', '--eval', script],
            },
          ],
        },
      },
    },
  });
  const wait = ['rollout', 'status', 'daemonset/forwarder', '--timeout=60s', '--request-timeout=0'];
  await cluster.kubectl([...wait, '--namespace', forwarders]);
}

test('the commands of deploy/README.md install users from a registry, with the published image', async () => {
  const host = await addressForNodes();
  const registry = await startRegistry();
  onTestFinished(() => registry[Symbol.asyncDispose]());
  await forwardFromNodes(registry.port, host);
  const tag = `0.1.0-${newName('registry').slice(-6)}`;
  // Another source is another image. Of the same one, the kubelet remembers that it was pulled with credentials, and
  // then requires them of the pods of the other tests.
  const published = await registry.publish(tag, { SOURCE: `https://git.example.org/${tag}` });
  world.log('published');
  await provideVolumes(world, 1);

  const script = scriptOf('helm upgrade', registry, tag)
    .replace('kubectl create namespace fw\n', '')
    .replaceAll('--namespace fw', `--namespace ${namespace}`)
    .replace('registry.example.org', registry.name.replace('/fw', ''));
  await runProgram('bash', ['-c', script], { signal: cluster.signal, env: registry.env });

  const digest = /\/fw-users@(sha256:\w{64})$/m.exec(published)?.[1];
  const images = await cluster.kubectl([
    ...['get', 'pods', '--namespace', namespace, '--selector', 'app.kubernetes.io/name=users'],
    '--output=jsonpath={.items[*].status.containerStatuses[*].imageID}',
  ]);
  expect(images).toBe(`${registry.name}/fw-users@${digest}`);
});
