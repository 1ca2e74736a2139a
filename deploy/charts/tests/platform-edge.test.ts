import fs from 'node:fs';
import http from 'node:http';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { listenAnywhere } from '../../local/testing/ports.ts';
import { charts, namesOf, only, readObjects, type Values } from './render.ts';
import { startRenderedEdge } from './rendered-edge.ts';

/** What depends on the limits of the services and of the edge. */
function limitsOf(values: Values) {
  const rendered = charts.render('platform', values);
  const { spec } = only(rendered, 'Deployment', 'fw-edge').spec.template;
  const listen: string = only(rendered, 'ConfigMap', 'fw-edge').data['listen.conf'];
  return {
    limits: listen.match(/^(client_max_body_size|\w+_timeout) .*;/gm),
    grace: spec.terminationGracePeriodSeconds,
    space: spec.volumes[0].emptyDir.sizeLimit,
  };
}

test.each(['fw', 'users', 'my-catalog'])(
  'the edge of a release called %s reaches its Services',
  (release) => {
    const all = readObjects(charts.helm(['template', release, 'platform']).stdout);
    const edge = all.find(({ kind, data }) => kind === 'ConfigMap' && 'upstreams.conf' in data);
    const servers: string[] = edge?.data['upstreams.conf'].match(/(?<=server )\S+(?=:80 )/g);

    expect(servers).toHaveLength(2 * SERVICE_NAMES.length);
    expect(new Set(servers).size).toBe(SERVICE_NAMES.length);
    for (const server of servers) expect(namesOf(all, 'Service')).toContain(server);
  },
);

test('the time-outs and the grace period of the edge follow the time limits of the services', () => {
  const config = { REQUEST_TIMEOUT_MS: 1_500 };
  const short = limitsOf(Object.fromEntries(SERVICE_NAMES.map((name) => [name, { config }])));
  const long = limitsOf({ catalog: { config: { REQUEST_TIMEOUT_MS: 600_000 } } });
  const usual = limitsOf({});

  expect(usual.limits).toEqual(['proxy_read_timeout 30s;', 'proxy_send_timeout 30s;']);
  expect(short.limits).toEqual(['proxy_read_timeout 12s;', 'proxy_send_timeout 12s;']);
  expect(long.limits).toEqual(['proxy_read_timeout 610s;', 'proxy_send_timeout 610s;']);
  // preStop, keepalive_min_timeout, the longest request, and 5 s.
  expect(usual.grace).toBe(10 + 15 + 30 + 5);
  expect(long.grace).toBe(usual.grace + 580);
});

test('edge.maxBodySize and edge.keepAliveSeconds override nginx.conf, and large bodies have a larger volume', () => {
  const large = { maxBodySize: '64m', keepAliveSeconds: 4_000_000 };
  const users = { config: { BODY_LIMIT: 67_108_864 } };

  const { limits, space } = limitsOf({ edge: large, users });

  expect(limits).toContain('client_max_body_size 64m;');
  expect(limits).toContain('keepalive_timeout 4000000s;');
  expect(space).toBe('256Mi');
  expect(limitsOf({ edge: { maxBodySize: '1024k' } }).space).toBe('16Mi');
  expect(limitsOf({ edge: { resources: null } }).space).toBe('16Mi');
  expect(limitsOf({ edge: { ...large, resources: null }, users }).space).toBeUndefined();
});

test('nginx runs with the rendered files; in a terminating pod each response closes its connection', async () => {
  const service = http.createServer((_, response) => response.end('{}'));
  const values = { catalog: { enabled: false }, reports: { upstreams: { catalog: 'http://a' } } };
  const { port, prefix, stop } = await startRenderedEdge({
    objects: charts.render('platform', values),
    users: await listenAnywhere(service),
  });
  onTestFinished(async () => {
    service.close();
    await stop();
  });
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
  fs.writeFileSync(path.join(prefix, 'ending'), '');
  for (const target of Object.keys(statuses)) {
    expect((await get(target)).headers.get('connection'), target).toBe('keep-alive, close');
  }
});
