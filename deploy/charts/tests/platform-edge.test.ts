import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { freePort, listenAnywhere } from '../../local/testing/ports.ts';
import { startProgram } from '../../local/testing/program.ts';
import { charts, namesOf, only, type Rendered, readObjects, type Values } from './render.ts';

const filesOf = (values: Values): Record<string, string> =>
  only(charts.render('platform', values), 'ConfigMap', 'fw-edge').data;

test.each(['fw', 'users', 'my-catalog'])(
  'the edge of a release called %s reaches its Services',
  (release) => {
    const objects = readObjects(charts.helm(['template', release, 'platform']).stdout);
    const edge = objects.find(({ kind, data }) => kind === 'ConfigMap' && 'upstreams.conf' in data);
    const servers: string[] = edge?.data['upstreams.conf'].match(/(?<=server )\S+(?=:80 )/g);

    expect(servers).toHaveLength(2 * SERVICE_NAMES.length);
    expect(new Set(servers).size).toBe(SERVICE_NAMES.length);
    for (const server of servers) expect(namesOf(objects, 'Service')).toContain(server);
  },
);

test('the time-outs and the grace period follow edge.requestTimeoutSeconds, the limits those of nginx', () => {
  const values = {
    edge: { requestTimeoutSeconds: 610 },
    nginx: { maxBodyBytes: 67_108_864, keepAliveSeconds: 4_000_000 },
  };
  const { template } = only(charts.render('platform', values), 'Deployment', 'fw-edge').spec;
  const settings = filesOf(values)['settings.conf'];

  expect(settings?.match(/^(client_max_body_size|\w+_timeout) .*;/gm)).toEqual([
    ...['client_max_body_size 67108864;', 'keepalive_timeout 4000000s;'],
    ...['proxy_read_timeout 610s;', 'proxy_send_timeout 610s;'],
  ]);
  // preStop, the longest request, 15 s for idle connections (keepalive_min_timeout), 5 s, and a margin.
  expect(template.spec.terminationGracePeriodSeconds).toBe(10 + 610 + 15 + 5 + 2);
});

test('the pods of the edge share the limit of connections to the pods of a service', () => {
  const limitsOf = (values: Values) =>
    filesOf(values)['upstreams.conf']?.match(/(?<=server fw-users:80 )\S+/g);

  const nginx = { maxConnectionsPerPod: { users: 300 } };

  // Critical requests have no limit.
  expect(limitsOf({ nginx, edge: { replicaCount: 3 }, users: { replicaCount: 5 } })).toEqual([
    ...['max_conns=500', 'max_fails=0;'],
  ]);
});

test('the pods of the edge roll after a change of the configuration', () => {
  const templateWith = (values: Values) =>
    only(charts.render('platform', values), 'Deployment', 'fw-edge').spec.template;

  expect(templateWith({ nginx: { maxBodyBytes: 2_000_000 } })).not.toEqual(templateWith({}));
  expect(templateWith({ users: { minReadySeconds: 9 } })).toEqual(templateWith({}));
});

test('more volumes and mounts of the edge do not replace those of nginx', () => {
  const edge = {
    extraVolumes: [{ name: 'more', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
  };
  const podWith = (values: Values) =>
    only(charts.render('platform', values), 'Deployment', 'fw-edge').spec.template.spec;
  const [pod, defaults] = [podWith({ edge }), podWith({})];

  expect(pod.volumes).toEqual(expect.arrayContaining([...defaults.volumes, ...edge.extraVolumes]));
  expect(pod.containers[0].volumeMounts).toEqual(
    expect.arrayContaining([...defaults.containers[0].volumeMounts, ...edge.extraVolumeMounts]),
  );
});

/** Starts the command of the edge in a folder of this machine; services except users are unavailable. */
async function startEdge(objects: readonly Rendered[], users: number) {
  const port = await freePort();
  const folder = newFolder('fw-edge-');
  const nginx = ensureTool('nginx');
  for (const [name, suffix] of Object.entries({ conf: '', page: '-page' })) {
    const { data } = only(objects, 'ConfigMap', `fw-edge${suffix}`);
    fs.mkdirSync(path.join(folder, name));
    for (const [file, text] of Object.entries<string>(data)) {
      const local = text
        .replace('listen 8080;', `listen 127.0.0.1:${port};`)
        .replaceAll('/edge/', `${folder}/`)
        .replaceAll(
          /server fw-(\w+):80/g,
          (_, service) => `server 127.0.0.1:${service === 'users' ? users : 1}`,
        );
      fs.writeFileSync(path.join(folder, name, file), local);
    }
  }
  const [container] = only(objects, 'Deployment', 'fw-edge').spec.template.spec.containers;
  const command: string[] = container.command.map((one: string) =>
    one.replaceAll('/edge', folder).replace(/^nginx$/, nginx),
  );
  const asRoot = process.getuid?.() === 0 ? ['-g', 'user root root;'] : [];
  const ready = `http://127.0.0.1:${port}/page/index.html`;
  const program = await startProgram([...command, ...asRoot], { ready });
  onTestFinished(() => program.stop('SIGQUIT'));
  return { port, folder };
}

test('nginx runs with the rendered files; in a terminating pod each response closes its connection', async () => {
  const service = http.createServer((_, response) => response.end('{}'));
  onTestFinished(() => void service.close());
  const values = { catalog: { enabled: false }, reports: { calls: ['users'] } };
  const objects = charts.render('platform', values);
  const { port, folder } = await startEdge(objects, await listenAnywhere(service));
  const get = async (target: string) => {
    const { status, headers } = await fetch(`http://127.0.0.1:${port}${target}`);
    return { status, headers };
  };
  // A service, the page, a service that is not installed, and an unavailable one.
  const statuses = { '/api/v1/users': 200, '/': 200, '/docs/catalog': 404, '/docs/reports': 502 };

  for (const [target, status] of Object.entries(statuses)) {
    const response = await get(target);
    expect([target, response.status]).toEqual([target, status]);
    expect(response.headers.get('connection')).toBe('keep-alive');
  }
  expect((await get('/')).headers.get('etag')).toMatch(/^"[0-9a-f]{16}"$/);
  fs.writeFileSync(path.join(folder, 'ending'), '');
  for (const target of Object.keys(statuses)) {
    expect((await get(target)).headers.get('connection'), target).toBe('keep-alive, close');
  }
});
