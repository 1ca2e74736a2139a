import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';

import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { SERVICE_NAMES } from '../../../services/services.ts';
import { listenAnywhere } from '../../local/testing/ports.ts';
import { namesOf } from './platform.ts';
import { charts, only, type Rendered, readObjects, type Values } from './render.ts';
import { NGINX, startRenderedEdge } from './rendered-edge.ts';

let objects: Rendered[];
let files: Record<string, string>;
let pod: Rendered;
let container: Rendered;
beforeAll(() => {
  objects = charts.render('platform');
  files = only(objects, 'ConfigMap', 'fw-edge').data;
  pod = only(objects, 'Deployment', 'fw-edge').spec.template.spec;
  [container] = pod.containers;
});

test('the edge has the same nginx.conf and page as make up', () => {
  const page: Record<string, string> = only(objects, 'ConfigMap', 'fw-edge-page').data;

  expect(files['nginx.conf']).toBe(fs.readFileSync(path.join(NGINX, 'nginx.conf'), 'utf8'));
  expect(Object.keys(page).sort()).toEqual(fs.readdirSync(path.join(NGINX, 'page')).sort());
  for (const [name, text] of Object.entries(page)) {
    expect(text).toBe(fs.readFileSync(path.join(NGINX, 'page', name), 'utf8'));
  }
});

test('the ETag of the page is a hash of its files', () => {
  expect(files['page.conf']).toMatch(/^map "" \$page_version \{ default "[0-9a-f]{16}"; \}\n$/);
});

test.each(['fw', 'users', 'my-catalog'])(
  'it passes on to the Services of a release called %s',
  (release) => {
    const all = readObjects(charts.helm(['template', release, 'platform']).stdout);
    const edge = all.find(({ kind, data }) => kind === 'ConfigMap' && 'upstreams.conf' in data);
    const upstreams: string = edge?.data['upstreams.conf'] ?? '';
    const hosts = [...upstreams.matchAll(/server ([^:]+):80 (?:max_conns=600 )?max_fails=0;/g)].map(
      ([, host]) => host,
    );

    expect(hosts).toHaveLength(2 * SERVICE_NAMES.length);
    expect(new Set(hosts).size).toBe(SERVICE_NAMES.length);
    for (const host of hosts) expect(namesOf(all, 'Service')).toContain(host);
  },
);

test('the upstream of a disabled service has no server', () => {
  const values = { users: { enabled: false }, reports: { upstreams: { users: 'http://people' } } };
  const { data } = only(charts.render('platform', values), 'ConfigMap', 'fw-edge');

  expect(data['upstreams.conf']).toMatch(
    /^upstream users \{\n[^}]*server 127\.0\.0\.1:1 down;\n\}/,
  );
});

test('the grace period of the edge includes preStop and the longest request', () => {
  const [, longest] = /proxy_read_timeout (\d+)s;/.exec(files['limits.conf'] ?? '') ?? [];
  const [, serving] = /sleep (\d+)$/.exec(container.lifecycle.preStop.exec.command[2]) ?? [];
  const [, idle] = /keepalive_min_timeout (\d+)s;/.exec(container.command[2]) ?? [];

  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(
    Number(serving) + Number(idle) + Number(longest),
  );
});

test('the limits of the edge follow the time-outs and body limits of the services', () => {
  const edgeOf = (values: Values) => {
    const rendered = charts.render('platform', values);
    const { spec } = only(rendered, 'Deployment', 'fw-edge').spec.template;
    return {
      limits: only(rendered, 'ConfigMap', 'fw-edge').data['limits.conf'],
      grace: spec.terminationGracePeriodSeconds,
      space: spec.volumes[0].emptyDir.sizeLimit,
    };
  };
  const usual = edgeOf({});
  const large = edgeOf({
    users: { config: { BODY_LIMIT: 67_108_864 } },
    catalog: { config: { REQUEST_TIMEOUT_MS: 600_000 } },
  });
  const absent = edgeOf({
    users: { enabled: false, config: { BODY_LIMIT: 67_108_864, REQUEST_TIMEOUT_MS: 600_000 } },
    reports: { upstreams: { users: 'http://people' } },
  });

  expect(usual.limits).toBe(
    'client_max_body_size 1048576;\nproxy_read_timeout 30s;\nproxy_send_timeout 30s;\nkeepalive_timeout 620s;\n',
  );
  expect(usual.space).toBe('16Mi');
  expect(large.limits).toBe(
    'client_max_body_size 67108864;\nproxy_read_timeout 610s;\nproxy_send_timeout 610s;\nkeepalive_timeout 620s;\n',
  );
  expect(large).toMatchObject({ grace: usual.grace + 580, space: '256Mi' });
  expect(absent).toEqual(usual);
});

test('the edge without resources has a volume of 16 MiB, without a limit for large bodies', () => {
  const volumeOf = (values: Values) => {
    const rendered = charts.render('platform', { edge: { resources: null }, ...values });
    const { containers, volumes } = only(rendered, 'Deployment', 'fw-edge').spec.template.spec;
    expect(containers[0].resources).toBeUndefined();
    return volumes[0].emptyDir;
  };

  expect(volumeOf({})).toEqual({ sizeLimit: '16Mi' });
  expect(volumeOf({ users: { config: { BODY_LIMIT: 67_108_864 } } })).toEqual({});
});

test('clients may keep an idle connection for edge.keepAliveSeconds', () => {
  const rendered = charts.render('platform', { edge: { keepAliveSeconds: 4_000_000 } });

  expect(only(rendered, 'ConfigMap', 'fw-edge').data['limits.conf']).toContain(
    'keepalive_timeout 4000000s;',
  );
});

test('the time-out of the edge exceeds a short time limit by 10 s', () => {
  const config = { REQUEST_TIMEOUT_MS: 1_500 };
  const values = Object.fromEntries(SERVICE_NAMES.map((name) => [name, { config }]));
  const { data } = only(charts.render('platform', values), 'ConfigMap', 'fw-edge');

  expect(data['limits.conf']).toContain('proxy_read_timeout 12s;');
});

test.each([
  ['takes', 'exit 0', true],
  ['does not know', 'test ! -e "$PREFIX/keepalive.conf"', false],
])('an nginx that %s keepalive_min_timeout starts', (_, check, kept) => {
  const prefix = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-edge-'));
  onTestFinished(() => fs.rmSync(prefix, { recursive: true }));
  const nginx = path.join(prefix, 'nginx');
  const script = `#!/bin/sh\ncase "$1" in -t) ${check};; *) echo "started $*";; esac\n`;
  fs.writeFileSync(nginx, script, { mode: 0o755 });
  const [sh, ...args]: string[] = container.command.map((one: string) =>
    one.replaceAll('/edge', prefix).replace(/^nginx$/, nginx),
  );

  const { stdout } = spawnSync(sh ?? '', args, {
    env: { ...process.env, PREFIX: prefix },
    encoding: 'utf8',
  });

  expect(stdout).toBe(`started -e stderr -p ${prefix} -c conf/nginx.conf\n`);
  const file = path.join(prefix, 'keepalive.conf');
  expect(fs.existsSync(file)).toBe(kept);
  if (kept) expect(fs.readFileSync(file, 'utf8')).toBe('keepalive_min_timeout 15s;\n');
});

test('the pods of the edge roll only when its configuration changes', () => {
  const checksumOf = (values: Values) =>
    only(charts.render('platform', values), 'Deployment', 'fw-edge').spec.template.metadata
      .annotations['checksum/config'];
  const renamed = {
    users: { fullnameOverride: 'people' },
    reports: { upstreams: { users: 'http://people' } },
  };

  expect(checksumOf({ users: { replicaCount: 3 } })).toBe(checksumOf({}));
  expect(checksumOf(renamed)).not.toBe(checksumOf({}));
});

test('the NetworkPolicy of the edge allows the peers in allowFrom, and egress to the services', () => {
  const policyOf = (values: Values) =>
    only(charts.render('platform', values), 'NetworkPolicy', 'fw-edge').spec;
  const office = { ipBlock: { cidr: '192.0.2.0/24' } };
  const [dns, services, ...others] = policyOf({}).egress;
  const nameOf = ({ podSelector }: Rendered) => podSelector.matchLabels['app.kubernetes.io/name'];

  expect(policyOf({}).ingress).toEqual([{ ports: [{ port: 8080 }] }]);
  expect(policyOf({ edge: { allowFrom: [office] } }).ingress[0].from).toContainEqual(office);
  expect(dns.ports.map(({ port }: { port: number }) => port)).toContain(53);
  expect(services.to.map(nameOf)).toEqual(SERVICE_NAMES);
  expect(others).toEqual([]);
});

function get(port: number, target: string, agent: http.Agent): Promise<http.IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: '127.0.0.1', port, path: target, agent }, (response) => {
      response.resume().once('end', () => resolve(response));
    });
    request.once('error', reject);
  });
}

test('nginx runs with the rendered configuration; in a terminating pod each response closes its connection', async () => {
  const service = http.createServer((_, response) => response.end('{}'));
  const { port, prefix, stop } = await startRenderedEdge({
    objects,
    users: await listenAnywhere(service),
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  // A service, the page, an unknown path and an unavailable service.
  const targets = ['/api/v1/users', '/', '/nowhere', '/api/v1/catalog'];
  const ask = async (target: string) => {
    const { statusCode, headers, socket } = await get(port, target, agent);
    return { statusCode, connection: headers.connection, socket };
  };

  try {
    for (const target of targets) {
      expect(await ask(target), target).toMatchObject({ connection: 'keep-alive' });
    }
    fs.writeFileSync(path.join(prefix, 'ending'), '');
    for (const target of targets) {
      const after = await ask(target);
      expect(after, target).toMatchObject({ connection: 'keep-alive, close' });
      expect((await ask('/api/v1/users')).socket).not.toBe(after.socket);
    }
  } finally {
    agent.destroy();
    await stop();
    service.close();
  }
});
