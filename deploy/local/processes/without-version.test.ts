import path from 'node:path';

import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { ensureTool } from '../../../tools/programs.ts';
import { runLoad } from '../../k6/run.ts';
import { startTrialSystem, type TrialSystem } from '../testing/trial-system.ts';
import { replicasOf } from './system.ts';

const START_TIMEOUT_MS = 90_000;

vi.setConfig({ testTimeout: START_TIMEOUT_MS });

describe('the local system without version 1', () => {
  let system: TrialSystem;

  beforeAll(async () => {
    vi.stubEnv('WITHOUT_VERSION', 'v1');
    system = await startTrialSystem();
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    vi.unstubAllEnvs();
    await system?.stop();
  });

  /** The requests to version 1 that all replicas have counted, by the labels of Prometheus. */
  async function readUsage(): Promise<string[]> {
    const pages = replicasOf(system.port).map(async ({ healthPort }) => {
      const response = await fetch(`http://127.0.0.1:${healthPort}/metrics`);
      return response.text();
    });
    const lines = (await Promise.all(pages)).join('\n').split('\n');
    return lines.filter((line) => /^api_requests_total\{.*version="v1"/.test(line));
  }

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

  test('api_requests_total names the client of the removed version', async () => {
    const headers = { 'X-Client-Id': 'billing' };
    await fetch(`${system.origin}/api/v1/users`, { headers });

    expect(await readUsage()).toContainEqual(expect.stringMatching(/client="billing".* 1$/));
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

  test('the next start serves version 1 again, and no client has used it', async () => {
    vi.stubEnv('WITHOUT_VERSION', undefined);

    await system.up();

    expect(system.progress.join('\n')).toContain('Restarting after a change: users-1');
    expect(await readUsage()).toEqual([]);
    expect((await fetch(`${system.origin}/api/v1/users?limit=1`)).status).toBe(200);
  });
});
