import { execFile } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { runLoad } from '../../k6/run.ts';
import { bundleOf } from '../build.ts';
import { readRunning } from '../state.ts';
import { startTrialSystem, type TrialSystem } from '../testing/trial-system.ts';
import { stopSystem } from './launch.ts';
import { isPortFree } from './ports.ts';
import { isRunning, stopProcess } from './process.ts';
import { environmentOf } from './system.ts';

/** A start takes a second, and many times that on a busy machine. */
const START_TIMEOUT_MS = 90_000;

vi.setConfig({ testTimeout: START_TIMEOUT_MS });

describe('the local system', () => {
  let system: TrialSystem;
  beforeAll(async () => {
    system = await startTrialSystem();
  }, START_TIMEOUT_MS);
  afterAll(() => system?.stop());

  test('every replica serves an imported catalog at once', async () => {
    const { folders, port, origin } = system;
    const items = new URL('../../../services/catalog/data/items.ndjson', import.meta.url);
    const file = path.join(folders.root, 'items.ndjson');
    const one = { ...JSON.parse(fs.readFileSync(items, 'utf8').split('\n')[0] ?? ''), id: 5001 };
    fs.writeFileSync(file, `${fs.readFileSync(items, 'utf8')}${JSON.stringify(one)}\n`);
    const env = environmentOf('catalog', { folders, env: {}, edgePort: port });

    await promisify(execFile)(process.execPath, [bundleOf('catalog'), 'import', file], { env });

    // The edge alternates between the replicas.
    for (const _ of ['catalog-1', 'catalog-2']) {
      const response = await fetch(`${origin}/api/v2/catalog/5001`);
      expect(await response.json()).toMatchObject({ data: { name: one.name } });
    }
  });

  test('only the owner can read the data, the logs and the state', async () => {
    const { folders } = system;

    const files = [folders.data, folders.logs, path.join(folders.run, 'variables.json')];
    const others = files.map((file) => fs.statSync(file).mode & 0o077);
    expect(others).toEqual([0, 0, 0]);
  });

  test('a process that only has the id of a recorded one is not stopped', async () => {
    const { folders } = system;
    const [record] = readRunning(folders.run);

    await stopProcess({ ...record!, identity: 'an earlier process' });

    expect(isRunning(record!)).toBe(true);
  });

  test('a second start changes nothing and prints that', async () => {
    const before = readRunning(system.folders.run);

    await system.up();

    expect(system.progress.at(-1)).toBe('Already running');
    expect(readRunning(system.folders.run)).toEqual(before);
  });

  test('a second start restarts only what changed, and prints the names', async () => {
    const before = readRunning(system.folders.run);

    await system.up({ BODY_LIMIT: '1000' });

    const changed = readRunning(system.folders.run).filter(
      (record) => !before.some(({ pid }) => pid === record.pid),
    );
    expect(changed.map(({ name }) => name).sort()).toEqual(['users-1', 'users-2']);
    expect(system.progress).toContain('Restarting after a change: users-1, users-2');
    expect(before.filter(isRunning)).toHaveLength(4);
  });

  test('a second start restarts a process that has ended', async () => {
    const reports = readRunning(system.folders.run).find(({ name }) => name === 'reports-1');
    await stopProcess(reports!);

    await system.up();

    expect(readRunning(system.folders.run)).toHaveLength(6);
  });

  describe('without version 1', () => {
    beforeAll(() => system.up({ WITHOUT_VERSION: 'v1' }));

    test.each(SERVICE_NAMES)('version 1 of %s responds with 410 at the edge', async (name) => {
      const response = await fetch(`${system.origin}/api/v1/${name}`);

      expect(response.status).toBe(410);
      expect(response.headers.get('link')).toBe(`</api/v2/${name}>; rel="successor-version"`);
      expect(await response.json()).toMatchObject({
        code: 'GONE',
        detail: `Version v1 of this API was removed: use /api/v2/${name}`,
      });
    });

    test('version 2, the documents and the start page are served', async () => {
      const paths = ['/api/v2/users', '/api/v2/catalog', '/'].concat(
        SERVICE_NAMES.flatMap((name) => [`/docs/${name}`, `/docs/${name}/openapi.json`]),
      );

      const responses = await Promise.all(paths.map((each) => fetch(system.origin + each)));

      expect(responses.filter(({ status }) => status !== 200).map(({ url }) => url)).toEqual([]);
    });

    test('the load test of both versions passes', async () => {
      ensureTool('k6');
      const { ok, failed } = await runLoad({
        profile: 'smoke',
        base: system.origin,
        env: { PATH: process.env.PATH, DURATION: '2s', LATENCY_FACTOR: '100' },
        run: system.folders.run,
        out: path.join(system.folders.root, 'load'),
        print: () => {},
      });

      expect({ ok, failed }).toEqual({ ok: true, failed: 0 });
    });

    test('the next start serves version 1 again', async () => {
      await system.up();

      expect((await fetch(`${system.origin}/api/v1/users?limit=1`)).status).toBe(200);
    });
  });

  test('stopping leaves no process, no port and no file except the data', async () => {
    const { folders } = system;
    const running = readRunning(folders.run);

    const stopped = await stopSystem(folders);

    expect(stopped).toBe(6);
    expect(running.filter(isRunning)).toEqual([]);
    for (const port of running.flatMap(({ ports }) => ports)) {
      await expect.poll(() => isPortFree(port)).toBe(true);
    }
    expect(fs.readdirSync(path.join(folders.root, '.local'))).toEqual(['data']);
  });

  test('a start names the port that is taken, and starts nothing', async () => {
    const { folders, port } = system;
    const server = net.createServer().listen(port + 2, '127.0.0.1');
    onTestFinished(() => void server.close());

    await expect(system.up()).rejects.toThrow(`Port ${port + 2}, which users-2 needs, is taken by`);

    expect(readRunning(folders.run)).toEqual([]);
  });
});
