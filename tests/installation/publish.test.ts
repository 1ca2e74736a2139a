import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, test, vi } from 'vitest';

const MINUTES = 60_000;
/** The tests of a service, on a busy machine too. */
const NPM_TEST = 'npm test -- --test-timeout=60000';
// Long enough for a busy machine.
vi.setConfig({ testTimeout: 15 * MINUTES });

const root = path.resolve(import.meta.dirname, '../..');
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-publish-'));
const service = path.join(folder, 'orders');
let server: Server;
let url = '';

beforeAll(async () => {
  server = await createRegistry();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const response = await fetch(`${url}/-/user/org.couchdb.user:ada`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'ada', password: 'correct horse' }),
  });
  const { token } = (await response.json()) as { token: string };
  writeConfiguration('valid', token);
  writeConfiguration('expired', 'expired');
});

afterAll(async () => {
  server.close();
  server.closeAllConnections();
  await fs.promises.rm(folder, { recursive: true });
}, 5 * MINUTES);

/** An empty registry, which serves only what is published to it. */
function createRegistry(): Promise<Server> {
  const { runServer } = createRequire(path.join(root, 'tools/verdaccio/'))('verdaccio');
  return runServer({
    configPath: path.join(folder, 'registry.yaml'),
    storage: path.join(folder, 'storage'),
    auth: { htpasswd: { file: path.join(folder, 'users') } },
    packages: { '@acme/*': { access: '$all', publish: '$authenticated' } },
    web: { enable: false },
    log: { type: 'stdout', level: 'fatal' },
  });
}

/** The configuration of npm of a user: of this machine, but the packages of the scope are from the registry. */
function writeConfiguration(name: string, token: string): void {
  const { NPM_CONFIG_USERCONFIG = path.join(os.homedir(), '.npmrc') } = process.env;
  const own = fs.existsSync(NPM_CONFIG_USERCONFIG) ? fs.readFileSync(NPM_CONFIG_USERCONFIG) : '';
  const scope = `@acme:registry=${url}\n${url.replace('http:', '')}/:_authToken=${token}\n`;
  fs.writeFileSync(path.join(folder, name), `${own}\n${scope}`);
}

/** Runs a program as a user with a configuration of npm; resolves even if it fails. */
async function run(cwd: string, command: string, user = 'valid') {
  const [program = '', ...args] = command.trim().split(' ');
  const configuration = { NPM_CONFIG_USERCONFIG: path.join(folder, user) };
  const clean = { NODE_OPTIONS: '', NODE_ENV: '', VITEST: '', MAKEFLAGS: '' };
  const env = { ...process.env, ...clean, ...configuration };
  try {
    const { stdout, stderr } = await promisify(execFile)(program, args, { cwd, env });
    return { output: stdout + stderr, failed: false };
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return { output: stdout + stderr, failed: true };
  }
}

/** Runs `make publish-packages`, and returns its lines without those of make. */
async function publish(variables: string, user?: string): Promise<string[]> {
  const { output } = await run(root, `make --silent publish-packages ${variables}`, user);
  return output.split('\n').filter((line) => line && !line.startsWith('make'));
}

async function succeed(cwd: string, command: string): Promise<string> {
  const { output, failed } = await run(cwd, command);
  if (failed) throw new Error(`Cannot run ${command}:\n${output}`);
  return output;
}

/** The published versions of a package. */
async function versionsOf(name: string): Promise<string[]> {
  const response = await fetch(`${url}/${name}`);
  const { versions = {} } = (await response.json()) as { versions?: object };
  return Object.keys(versions);
}

/** The packages of fw that the service has installed, such as `@acme/fw-core@0.1.0`. */
function installedPackages(): string[] {
  const lock = JSON.parse(fs.readFileSync(path.join(service, 'package-lock.json'), 'utf8'));
  return Object.entries<{ name: string; version: string }>(lock.packages)
    .filter(([key]) => /node_modules\/(?:fw$|@fw\/)[^/]*$/.test(key))
    .map(([, { name, version }]) => `${name}@${version}`);
}

test.each([
  ['', 'Cannot publish with NPM_SCOPE "": expected a value such as "@acme"'],
  ['NPM_SCOPE=acme', 'Cannot publish with NPM_SCOPE "acme": expected a value such as "@acme"'],
  ['NPM_SCOPE=@acme TAG=v1', 'Cannot publish with TAG "v1": expected a value such as "0.1.0"'],
  ['NPM_SCOPE=@acme NPM_REGISTRY=localhost:1', 'Cannot publish with NPM_REGISTRY "localhost:1"'],
  ['NPM_SCOPE=@acme PROVENANCE=1', 'Cannot publish with SOURCE "": expected a value such as'],
  ['NPM_SCOPE=@acme NPM_REGISTRY=http://127.0.0.1:1', 'Cannot look up @acme/fw-core@0.1.0 in http'],
])('make publish-packages %s prints one line', async (variables, line) => {
  expect(await publish(variables)).toEqual([expect.stringContaining(line)]);
});

test('with expired credentials, nothing is published', async () => {
  const lines = await publish(`NPM_SCOPE=@acme NPM_REGISTRY=${url}`, 'expired');

  expect(lines).toEqual([
    `Cannot publish @acme/fw-core@0.1.0 in ${url}: Unable to authenticate, your authentication token seems to be invalid.`,
  ]);
  expect(await versionsOf('@acme/fw-core')).toEqual([]);
});

test('npm create @acme/fw writes a service that installs, passes its tests, and upgrades', async () => {
  const published = await publish('NPM_SCOPE=@acme');
  await succeed(folder, `npm create --yes --cache ${folder}/cache @acme/fw@latest orders`);
  await succeed(service, 'npm install --prefer-offline');
  const first = installedPackages();
  const tests = await succeed(service, NPM_TEST);
  await succeed(service, 'npm run check');
  await succeed(service, 'npm run build');

  const next = await publish('NPM_SCOPE=@acme TAG=0.2.0');
  const manifest = path.join(service, 'package.json');
  const text = fs.readFileSync(manifest, 'utf8');
  fs.writeFileSync(manifest, text.replaceAll(/(npm:@acme\/.+)@0\.1\.0/g, '$1@0.2.0'));
  await succeed(service, 'npm install --prefer-offline');
  await succeed(service, NPM_TEST);

  expect(published).toContain('@acme/create-fw@0.1.0: published');
  expect(first).toContain('@acme/fw@0.1.0');
  expect(first.filter((id) => !/^@acme\/.+@0\.1\.0$/.test(id))).toEqual([]);
  expect(tests).toMatch(/Tests .*passed/);
  expect(next.at(-1)).toBe('@acme/create-fw@0.2.0: published');
  expect(installedPackages()).toEqual(first.map((id) => id.replace('0.1.0', '0.2.0')));
});

test('a published version is skipped', async () => {
  const lines = await publish('NPM_SCOPE=@acme TAG=0.2.0');

  expect(lines).toContain('@acme/fw-core@0.2.0: published before');
  expect(lines.filter((line) => !line.endsWith(': published before'))).toEqual([]);
});

test('if one package was published with other contents, no package is published', async () => {
  const other = path.join(folder, 'other');
  fs.mkdirSync(other);
  const manifest = { name: '@acme/fw-errors', version: '0.3.0' };
  fs.writeFileSync(path.join(other, 'package.json'), JSON.stringify(manifest));
  await succeed(other, 'npm publish');

  const lines = await publish('NPM_SCOPE=@acme TAG=0.3.0');

  expect(lines).toEqual([
    'Cannot publish: the registry has other contents of @acme/fw-errors@0.3.0; expected a new TAG',
  ]);
  expect(await versionsOf('@acme/fw-core')).toEqual(['0.1.0', '0.2.0']);
});
