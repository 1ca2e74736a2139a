import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';

import { newFolder } from '@fw/service/testing/vitest';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

import { runProgram } from '../../deploy/local/cluster/program.ts';
import { freePort } from '../../deploy/local/testing/ports.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { docker, missingEngine } from '../../tools/images/container.ts';
import { ensureTool } from '../../tools/programs.ts';
import { createApi } from '../api/requests.ts';
import { checkSystem } from '../check-system.ts';

const root = path.resolve(import.meta.dirname, '../..');
const project = `fw-${randomUUID().slice(0, 8)}`;
const folder = newFolder('compose-', afterAll);
const port = await freePort();
const base = `http://localhost:${port}`;
const secret = randomUUID();
const api = createApi(base);

const missing = missingEngine();
if (missing) console.warn(`The tests of compose.yaml are skipped: ${missing}`);

describe.skipIf(missing)('compose.yaml', () => {
  let compose: (...args: readonly string[]) => Promise<string>;

  beforeAll(async () => {
    const [program = '', ...command] = await findCompose();
    const files = ['compose.yaml', ...(await replacedProbe())].flatMap((file) => ['--file', file]);
    const env = { ...process.env, PORT: String(port), TAG: project, JWT_SECRET: secret };
    compose = (...args) =>
      runProgram(program, [...command, ...files, '--project-name', project, ...args], {
        cwd: root,
        env,
      });
    await compose('up', '--build', '--wait');
  });

  afterAll(async () => {
    await compose('down', '--volumes');
    await docker('rmi', ...SERVICE_NAMES.map((name) => `fw-${name}:${project}`));
  });

  test('the system passes make smoke', () => checkSystem({ base, secret }));

  test('containers are read-only, without root and capabilities, with limits; only the edge has a port', async () => {
    const containers = await inspect();

    expect(containers).toHaveLength(SERVICE_NAMES.length + 3);
    for (const { Name, State, Config, HostConfig } of containers) {
      const { Memory, NanoCpus, PidsLimit, PortBindings } = HostConfig;
      const ports = Object.values(PortBindings ?? {}).flat();
      expect(HostConfig, Name).toMatchObject({
        ReadonlyRootfs: true,
        CapDrop: ['ALL'],
        SecurityOpt: ['no-new-privileges'],
      });
      expect(
        [Memory, NanoCpus, PidsLimit].every((limit) => limit > 0),
        Name,
      ).toBe(true);
      expect(Config.User, Name).toMatch(/^[1-9]\d+/);
      expect(State.Status, Name).toBe('running');
      expect(ports.map(({ HostIp }) => HostIp)).toEqual(
        Name.includes('-edge-') ? ['127.0.0.1'] : [],
      );
    }
  });

  test('a service has a role that is no superuser, and opens only its own database', async () => {
    const psql = (database: string, sql: string) => {
      const script = `psql --tuples-only --no-align --command "$1" \\
        "postgres://users:$(cat /run/secrets/postgres/users-password)@postgres/$0"`;
      const shell = ['--entrypoint', 'sh', 'databases', '-c', script, database, sql];
      return compose('run', '--rm', '--no-deps', '-T', ...shell);
    };

    const role = await psql(
      'users',
      'SELECT * FROM (SELECT rolname, rolsuper FROM pg_roles) AS r WHERE rolname = current_user',
    );

    expect(role.trim()).toBe('users|f');
    await expect(psql('catalog', 'SELECT 1')).rejects.toThrow('permission denied for database');
    await expect(psql('postgres', 'CREATE ROLE other')).rejects.toThrow('permission denied');
  });

  test('the edge restarts when a service is replaced, and data and passwords survive down and up', async () => {
    const ada = { name: 'Ada', email: `${project}@example.org` };
    const { headers } = await api.send('POST', '/api/v2/users', ada);
    const read = async () => (await api.get(headers.get('location') ?? '')).json();
    const startOfEdge = async () =>
      (await inspect()).find(({ Name }) => Name.includes('-edge-'))?.State.StartedAt;
    const before = await startOfEdge();

    const isThere = () => expect.poll(read, { timeout: 30_000 }).toMatchObject({ data: ada });
    const changed = path.join(folder, 'changed.yaml');
    fs.writeFileSync(changed, 'services: { users: { environment: { LOG_LEVEL: debug } } }');

    await compose('--file', changed, 'up', '--wait');
    await isThere();
    expect(await startOfEdge()).not.toBe(before);

    await compose('down');
    await compose('up', '--wait');
    await isThere();
  });

  test('the profile observe has images with digests, valid targets, and a dashboard for each service', async () => {
    const profile = JSON.parse(await compose('--profile', 'observe', 'config', '--format', 'json'));
    const images = ['prometheus', 'jaeger', 'grafana'].map((name) => profile.services[name].image);
    for (const image of images) expect(image).toMatch(/:[^:@]+@sha256:[\da-f]{64}$/);

    const files = path.join(root, 'deploy/compose/observe');
    await runProgram(ensureTool('promtool'), ['check', 'config', `${files}/prometheus.yaml`]);

    const print = path.join(folder, 'run.sh');
    fs.writeFileSync(print, '#!/bin/sh\ncat "$GF_PATHS_PROVISIONING"/dashboards/*.json', {
      mode: 0o755,
    });
    const dashboard = path.join(root, 'deploy/charts/common/files/dashboard.json');
    const printed = await docker(
      ...['run', '--rm', '--env', `SERVICES=${SERVICE_NAMES.join(' ')}`, '--entrypoint', 'sh'],
      ...['--volume', `${files}/grafana.sh:/grafana.sh:ro`, '--volume', `${print}:/run.sh:ro`],
      ...['--volume', `${dashboard}:/dashboard.json:ro`, profile.services.postgres.image],
      '/grafana.sh',
    );
    expect(printed.match(/(?<="title": )".+ in compose"/g)).toEqual(
      SERVICE_NAMES.toSorted().map((name) => `"${name} in compose"`),
    );
  });

  async function inspect(): Promise<readonly ContainerState[]> {
    const ids = (await compose('ps', '--quiet')).trim().split('\n');
    return JSON.parse(await docker('inspect', ...ids));
  }
});

/** What `docker inspect` prints about a container. */
interface ContainerState {
  readonly Name: string;
  readonly State: { readonly Status: string; readonly StartedAt: string };
  readonly Config: { readonly User: string };
  readonly HostConfig: {
    readonly Memory: number;
    readonly NanoCpus: number;
    readonly PidsLimit: number;
    readonly PortBindings: Readonly<Record<string, readonly { readonly HostIp: string }[]>> | null;
  };
}

/** The command line of Docker Compose: the plugin of Docker, or the program that `make compose` installs. */
async function findCompose(): Promise<readonly string[]> {
  try {
    await docker('compose', 'version');
    return ['docker', 'compose'];
  } catch {
    return [ensureTool('docker-compose')];
  }
}

/** A file for an image of nginx without wget (NGINX_IMAGE), which cannot run the probe of the edge. */
async function replacedProbe(): Promise<readonly string[]> {
  const image = process.env.NGINX_IMAGE;
  if (!image) return [];
  try {
    await docker('run', '--rm', '--entrypoint', 'wget', image, '--help');
    return [];
  } catch {
    const file = path.join(folder, 'no-probe.yaml');
    fs.writeFileSync(file, 'services: { edge: { healthcheck: { disable: true } } }\n');
    return [file];
  }
}
