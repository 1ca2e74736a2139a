import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { SERVICE_NAMES, type ServiceName } from '../../services/services.ts';
import { launchBrowser } from '../local/testing/browser.ts';
import { listenAnywhere } from '../local/testing/ports.ts';
import { startTrialEdge } from '../local/testing/trial-edge.ts';

/** The interval of the page's checks. */
const REFRESH_MS = 4_000;
const WAIT = { timeout: 60_000 };

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

const labelsOf = (method: string, route: string, status: number) =>
  `http_request_method="${method}",url_scheme="http",http_route="${route}",http_response_status_code="${status}"`;

/** Metrics of `count` requests that all took between 0.1 and 0.25 s. */
const metricsOf = (
  labels: string,
  count: number,
) => `http_server_request_duration_seconds_count{${labels}} ${count}
http_server_request_duration_seconds_bucket{le="0.1",${labels}} 0
http_server_request_duration_seconds_bucket{le="0.25",${labels}} ${count}
`;

/**
 * Starts a service without version 1 that has served `ok` requests. Each reading of its metrics adds requests, and
 * 1,000 checks and documents of the page; the next one also adds `once`.
 */
async function startService(name: ServiceName, ok = 0) {
  const state = { name, port: 0, status: 200, ok: 0, failed: 0, once: 0 };
  const total = { ok, failed: 0, checks: 0 };
  const server = http.createServer(({ url }, response) => {
    response.statusCode = state.status;
    const info = {
      description: `Has **${name}**, with \`If-Match\`\nand [*pages*](/docs).\n\nMore`,
    };
    const document = { info, paths: { [`/api/v2/${name}`]: {} } };
    if (url !== '/metrics') return response.end(JSON.stringify(document));
    total.ok += state.ok + state.once;
    state.once = 0;
    total.failed += state.failed;
    total.checks += 1_000;
    const own = [labelsOf('HEAD', '/api', 200), labelsOf('GET', '', 200)];
    const { ok, failed, checks } = total;
    return response.end(
      own.map((labels) => metricsOf(labels, checks)).join('') +
        metricsOf(labelsOf('GET', '/api', 200), ok) +
        metricsOf(`${labelsOf('GET', '', 500)},error_type="500"`, failed),
    );
  });
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  state.port = await listenAnywhere(server);
  return state;
}

interface OpenOptions extends BrowserContextOptions {
  /** The requests that each service has served. Default 0. */
  readonly served?: number;
}

/** Opens the page, with plots of users and reports; only `page.clock` advances its time. */
async function open({ served = 0, ...options }: OpenOptions = {}) {
  const started = await Promise.all(SERVICE_NAMES.map((name) => startService(name, served)));
  const services = Object.fromEntries(started.map((one) => [one.name, one]));
  const { users, reports } = services as Record<ServiceName, (typeof started)[number]>;
  const upstreams = Object.fromEntries(started.map(({ name, port }) => [name, [port]]));
  const replicas = [users, reports].map(({ name, port }) => {
    return { name: `${name}-1`, service: name, healthPort: port };
  });
  const links = { Prometheus: 'http://localhost:9090/graph' };
  const edge = await startTrialEdge(upstreams, { replicas, links });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(async () => {
    await context.close();
    await edge.stop();
  });
  const page = await context.newPage();
  const logged: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => logged.push(message.text()));
  page.on('pageerror', (error) => logged.push(error.message));
  page.on('request', (request) => requested.push(request.url()));
  await page.clock.install();
  await page.goto(edge.origin);
  await page.getByRole('status').getByText('All services are up').waitFor();
  return { page, origin: edge.origin, users, reports, logged, requested };
}

/** The values below the plots after the next interval: requests, 5xx responses, and 99th percentile. */
async function readPlots(page: Page): Promise<string[]> {
  await page.clock.runFor(REFRESH_MS / 2);
  return await page.locator('#load dl').allInnerTexts();
}

test('the page links to documents and other programs, sends requests only to the edge, and logs nothing', async () => {
  const { page, origin, logged, requested } = await open();

  const link = page.getByRole('link', { name: 'Prometheus' });
  expect(await link.getAttribute('href')).toBe('http://localhost:9090/graph');
  for (const name of SERVICE_NAMES) {
    const documentation = page.getByRole('navigation', { name }).getByText('Documentation');
    expect(await documentation.getAttribute('href')).toBe(`/docs/${name}`);
  }
  expect(requested.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
  expect(logged).toEqual([]);
});

test('the page plots the requests, errors and durations of each service, until a minute ago', async () => {
  const { page, users, reports } = await open();
  const isIdle = () => readPlots(page).then(() => page.getByText('No requests yet').isVisible());
  await expect.poll(isIdle, WAIT).toBe(true);

  Object.assign(users, { ok: 18, failed: 2 });
  reports.status = 500;

  await expect
    .poll(() => readPlots(page), WAIT)
    .toEqual([
      // The clock of the page also runs by itself.
      expect.stringMatching(/^users\n\d+(\.\d)?\nreports\ndown$/),
      'users\n10 %\nreports\ndown',
      'users\n249 ms\nreports\ndown',
    ]);
  const total = page.getByText(
    /^Requests so far: users [\d,]{2,}, reports 0\. New ones appear here\.$/,
  );
  expect([await isIdle(), await total.isVisible()]).toEqual([false, false]);
  Object.assign(users, { ok: 0, failed: 0 });
  await expect.poll(() => readPlots(page).then(() => total.isVisible()), WAIT).toBe(true);
});

test('the page counts the requests before it was opened', async () => {
  const { page } = await open({ served: 1_234 });

  await page.getByText('Requests so far: users 1,234, reports 1,234.').waitFor();
});

test('the page plots the requests while it was hidden', async () => {
  const { page, users } = await open();
  const setHidden = (hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })`,
    );
  const readHidden = async () => {
    await setHidden(false);
    await readPlots(page);
    await setHidden(true);
    return (await readPlots(page))[0];
  };
  // On a busy machine, the page may give up the first reading, with which it compares the next.
  await expect.poll(readHidden, WAIT).toMatch(/^users\n0\n/);

  await page.clock.runFor(30_000);
  users.once = 60;
  await setHidden(false);

  // Slowly: each poll advances the clock by 2 s, and a point is drawn for a minute.
  const isIdle = () => readPlots(page).then(() => page.locator('#idle').isVisible());
  await expect.poll(isIdle, { ...WAIT, interval: 500 }).toBe(false);
});

test('the page formats the first paragraph of the description of a service', async () => {
  const { page } = await open();

  const about = page.locator('article[data-state="up"] .about').first();

  expect(await about.innerHTML()).toBe(
    `Has <strong>${SERVICE_NAMES[0]}</strong>, with <code>If-Match</code>\nand *pages*.`,
  );
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

test('a copied command contains the address of the page', async () => {
  const { page, origin } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });

  await page.getByRole('button', { name: 'Copy: Search the catalog' }).click();

  await page.getByText('Copied').waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    `curl '${origin}/api/v2/catalog?q=turntable&sort=-price&limit=3'`,
  );
});

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test.each([
  [360, 'light'],
  [1280, 'dark'],
] as const)(
  'at %i px in %s mode, nothing is cut off and axe reports no violation',
  async (width, colorScheme) => {
    const { page, users, reports } = await open({ viewport: { width, height: 800 }, colorScheme });
    Object.assign(users, { ok: 55_000, failed: 45_000 });
    reports.status = 503;
    await page.clock.fastForward(REFRESH_MS);
    await page.getByRole('status').getByText('reports is down').waitFor();
    await expect.poll(() => readPlots(page), WAIT).toContainEqual(expect.stringContaining('45 %'));

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await page.evaluate(axe);
    expect(
      await page.evaluate(`axe.run().then(({ violations }) => violations
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`),
    ).toEqual([]);
  },
);
