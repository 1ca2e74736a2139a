import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { SERVICE_NAMES } from '../../services/services.ts';
import { launchBrowser } from '../local/testing/browser.ts';
import { listenAnywhere } from '../local/testing/ports.ts';
import { startTrialEdge } from '../local/testing/trial-edge.ts';

/** The interval at which the page reads the metrics. */
const INTERVAL_MS = 2_000;
const WAIT = { timeout: 60_000 };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface Counts {
  readonly ok?: number;
  readonly failed?: number;
  readonly checks?: number;
}

/** The metrics of a replica whose requests all took between 0.1 and 0.25 s. */
function metricsOf({ ok = 0, failed = 0, checks = 0 }: Counts): string {
  const series = (labels: string, count: number) => `
http_requests_total{${labels}} ${count}
http_request_duration_seconds_bucket{le="0.1",${labels}} 0
http_request_duration_seconds_bucket{le="0.25",${labels}} ${count}
http_request_duration_seconds_bucket{le="+Inf",${labels}} ${count}
http_request_duration_seconds_sum{${labels}} ${count * 0.2}`;
  return [
    series('method="GET",route="/",status="2xx"', ok),
    series('method="GET",route="/",status="5xx"', failed),
    series('method="HEAD",route="/",status="2xx"', checks),
  ].join('');
}

/** Starts a replica that serves `state.added` more requests before each reading of its metrics. */
async function startReplica(name: string, service: string) {
  const none = { ok: 0, failed: 0, checks: 0 };
  const state: { added: Counts; total: typeof none; isDown: boolean } = {
    added: {},
    total: none,
    isDown: false,
  };
  const server = http.createServer((request, response) => {
    if (state.isDown) return response.destroy();
    if (request.url !== '/metrics') return response.end('{}');
    const { ok, failed, checks } = { ...none, ...state.added };
    const { total } = state;
    state.total = {
      ok: total.ok + ok,
      failed: total.failed + failed,
      checks: total.checks + checks,
    };
    return response.end(metricsOf(state.total));
  });
  const healthPort = await listenAnywhere(server);
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { name, service, healthPort, state };
}

/** Opens the page of a system with two replicas of users and one of reports; `passInterval` advances the time. */
async function open(options: BrowserContextOptions = {}, links: Record<string, string> = {}) {
  const replicas = [
    await startReplica('users-1', 'users'),
    await startReplica('users-2', 'users'),
    await startReplica('reports-1', 'reports'),
  ] as const;
  const [{ healthPort: port }] = replicas;
  const upstreams = Object.fromEntries(SERVICE_NAMES.map((name) => [name, [port]]));
  const edge = await startTrialEdge(upstreams, { replicas, links });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(async () => {
    await context.close();
    await edge.stop();
  });
  const page = await context.newPage();
  await page.clock.install();
  const passInterval = async () => {
    const read = Promise.all(
      replicas.map(({ name }) => page.waitForResponse((response) => response.url().endsWith(name))),
    );
    await page.clock.runFor(INTERVAL_MS);
    await read;
  };
  const read = page.waitForResponse((response) => response.url().endsWith('reports-1'));
  await page.goto(edge.origin);
  await read;
  await page.locator('#load figure').first().waitFor();
  return {
    page,
    passInterval,
    users: [replicas[0].state, replicas[1].state],
    reports: replicas[2].state,
  } as const;
}

/** The texts below the plots: service and value. */
function readValues(page: Page): Promise<readonly string[]> {
  return page
    .locator('#load dl')
    .evaluateAll((lists) =>
      lists.map((list) => [...list.children].map(({ textContent }) => textContent).join(' ')),
    );
}

test('the page plots requests, errors and the 99th percentile of each service, without its own checks', async () => {
  const { page, passInterval, users } = await open();

  users[0].added = { ok: 15, checks: 1_000 };
  users[1].added = { ok: 3, failed: 2 };

  await expect
    .poll(() => passInterval().then(() => readValues(page)), WAIT)
    .toEqual([
      // The clock of the page also runs by itself.
      expect.stringMatching(/^users \d+(\.\d)? reports 0$/),
      'users 10 % reports –',
      'users 249 ms reports –',
    ]);
  const lines = await page
    .locator('#load path')
    .evaluateAll((paths) => paths.map((path) => path.getAttribute('d')));
  expect(lines.map(Boolean)).toEqual([true, true, true, false, true, false]);
  expect(await page.getByText('No requests yet').isVisible()).toBe(false);
});

test('without requests the page says so, and values of a minute ago disappear', async () => {
  const { page, passInterval, users } = await open();
  const isIdle = () => passInterval().then(() => page.getByText('No requests yet').isVisible());

  await expect.poll(isIdle, WAIT).toBe(true);
  users[0].added = { ok: 1 };
  await expect.poll(isIdle, WAIT).toBe(false);
  users[0].added = {};

  await expect.poll(isIdle, WAIT).toBe(true);
});

test('a stopped service is shown as down, one of two stopped replicas is not, and a restart counts from zero', async () => {
  const { page, passInterval, users, reports } = await open();
  users[0].added = { ok: 100 };
  await passInterval();

  reports.isDown = true;
  users[1].isDown = true;
  users[0].total = { ok: 0, failed: 0, checks: 0 };

  await expect
    .poll(() => passInterval().then(() => readValues(page)), WAIT)
    .toContainEqual(expect.stringMatching(/^users \d+(\.\d)? reports down$/));
});

test('the page links to the programs that its edge knows', async () => {
  const { page } = await open({}, { Prometheus: 'http://localhost:9090/graph' });

  const link = page.getByRole('link', { name: 'Prometheus' });

  expect(await link.getAttribute('href')).toBe('http://localhost:9090/graph');
});

test('on a cluster, whose edge knows no replicas, the page has no plots', async () => {
  const edge = await startTrialEdge({});
  onTestFinished(edge.stop);
  const page = await browser.newPage();
  onTestFinished(() => page.close());

  await page.goto(edge.origin, { waitUntil: 'networkidle' });

  expect(await page.getByRole('heading', { name: 'The last minute' }).isVisible()).toBe(false);
  expect((await fetch(`${edge.origin}/page/metrics/users-1`)).status).toBe(404);
});

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test.each([
  [360, 'light'],
  [1280, 'dark'],
] as const)(
  'at %i px in %s mode, the plots are not cut off and axe reports no violation',
  async (width, colorScheme) => {
    const { page, passInterval, users } = await open(
      { viewport: { width, height: 800 }, colorScheme },
      { Prometheus: 'http://localhost:9090', Traces: 'http://localhost:9411' },
    );
    users[0].added = { ok: 55_000, failed: 45_000 };
    await expect
      .poll(() => passInterval().then(() => readValues(page)), WAIT)
      .toContain('users 45 % reports –');

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await page.evaluate(axe);
    expect(
      await page.evaluate(`axe.run().then(({ violations }) => violations.map(({ id }) => id))`),
    ).toEqual([]);
  },
);
