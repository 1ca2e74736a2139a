import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { SERVICE_NAMES, SERVICES, type ServiceName } from '../../services/services.ts';
import { launchBrowser } from '../local/testing/browser.ts';
import { listenAnywhere } from '../local/testing/ports.ts';
import { startTrialEdge } from '../local/testing/trial-edge.ts';

/** The interval of the page's checks. */
const REFRESH_MS = 4_000;

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** Starts a service that responds with `state.status` and `body`. */
async function startService(body: string) {
  const state = { status: 200 };
  const server = http.createServer((_, response) => response.writeHead(state.status).end(body));
  const port = await listenAnywhere(server);
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(stop);
  return { port, state, stop };
}

interface OpenOptions extends BrowserContextOptions {
  /** The status of the catalog from the start. */
  readonly catalogStatus?: number;
  /** The OpenAPI document of each service. Default: all versions. */
  readonly document?: object;
}

/** An OpenAPI document with these versions of all services. */
function documentOf(...versions: readonly string[]) {
  const paths = versions.flatMap((version) =>
    SERVICE_NAMES.map((name) => [`/api/${version}/${name}`, {}]),
  );
  return { paths: Object.fromEntries(paths) };
}

/** Opens the page with its own services; only `page.clock` advances the time. */
async function open({
  catalogStatus = 200,
  document = documentOf('v1', 'v2'),
  ...options
}: OpenOptions = {}) {
  const started = await Promise.all(
    SERVICE_NAMES.map(
      async (name) => [name, await startService(JSON.stringify(document))] as const,
    ),
  );
  const services = Object.fromEntries(started) as Record<ServiceName, (typeof started)[0][1]>;
  services.catalog.state.status = catalogStatus;
  const edge = await startTrialEdge(
    Object.fromEntries(started.map(([name, { port }]) => [name, [port]])),
  );
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
  return { page, origin: edge.origin, services, logged, requested };
}

function stateOf(page: Page, name: string): Promise<string | null> {
  return page
    .getByRole('article')
    .filter({ has: page.getByRole('heading', { name, exact: true }) })
    .getAttribute('data-state');
}

test('the page shows all services as up, sends requests only to the edge, and logs nothing', async () => {
  const { page, origin, logged, requested } = await open();

  await page.getByRole('status').getByText('All services are up').waitFor();

  for (const name of SERVICE_NAMES) expect(await stateOf(page, name)).toBe('up');
  expect(requested.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
  expect(logged).toEqual([]);
});

test('a stopped service is shown as down, and a recovered one as up', async () => {
  const { page, services } = await open();
  await page.getByRole('status').getByText('All services are up').waitFor();

  services.reports.stop();
  services.users.state.status = 503;
  await page.clock.fastForward(REFRESH_MS);
  await page.getByRole('status').getByText('users and reports are down').waitFor();
  const detail = await page.locator('[data-state=down] .detail').allInnerTexts();
  services.users.state.status = 200;
  await page.clock.fastForward(REFRESH_MS);
  await page.getByRole('status').getByText('reports is down').waitFor();

  expect(detail).toEqual(['status 503', 'status 502']);
  expect(await stateOf(page, 'users')).toBe('up');
  expect(await stateOf(page, 'catalog')).toBe('up');
  expect(await stateOf(page, 'reports')).toBe('down');
});

test('a hidden page sends no requests', async () => {
  const { page, requested } = await open();
  await page.getByRole('status').getByText('All services are up').waitFor();
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
  const before = requested.length;
  await page.clock.fastForward(3 * REFRESH_MS);

  expect(requested.length).toBe(before);
});

test('a copied command contains the address of the page', async () => {
  const { page, origin } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });

  await page.getByRole('button', { name: 'Copy: Search the catalog' }).click();

  await page.getByRole('button', { name: 'Copied' }).or(page.getByText('Copied')).first().waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    `curl '${origin}/api/v2/catalog?q=turntable&sort=-price&limit=3'`,
  );
});

test('without permission to copy, the command is selected', async () => {
  const { page, origin } = await open();
  await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('no'))`);

  await page.getByRole('button', { name: 'Copy: Search the catalog' }).click();

  await page.getByText('Selected').waitFor();
  expect(await page.evaluate('String(getSelection())')).toContain(`curl '${origin}/api/v2/catalog`);
});

test('each service in services.ts has links to its documentation and its versions, also by keyboard', async () => {
  const { page } = await open();

  const links = await page.getByRole('navigation').getByRole('link').all();
  const targets = await Promise.all(links.map((link) => link.getAttribute('href')));
  await page.keyboard.press('Tab');
  const first = await page.evaluate('document.activeElement.innerText');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/users');

  expect(first).toBe('Skip to the examples');
  expect(targets, 'add an <article> to deploy/nginx/page/index.html').toEqual(
    SERVICES.flatMap(({ name, versions }) => [
      `/docs/${name}`,
      ...versions.map((version) => expect.stringMatching(`^/api/${version}/${name}`)),
    ]),
  );
});

test.each([
  ['version 1 is removed', documentOf('v2'), ['Documentation', 'v2']],
  ['nothing is removed', documentOf('v1', 'v2'), ['Documentation', 'v1', 'v2']],
  ['there is no document', {}, ['Documentation', 'v1', 'v2']],
])('if %s, the links of each service show it', async (_title, document, expected) => {
  const { page, logged } = await open({ document });
  await page.getByRole('status').getByText('All services are up').waitFor();

  for (const name of SERVICE_NAMES) {
    const links = page.getByRole('navigation', { name }).getByRole('link');
    expect(await links.allInnerTexts()).toEqual(expected);
  }
  expect(logged).toEqual([]);
});

test('without JavaScript, the page contains everything except the states', async () => {
  const { page } = await open({ javaScriptEnabled: false });

  expect(await page.getByRole('status').innerText()).toContain('needs JavaScript');
  expect(await page.getByRole('link', { name: 'Documentation' }).count()).toBe(SERVICES.length);
  expect(await page.locator('pre').count()).toBe(4);
});

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test.each([
  [360, 'light'],
  [360, 'dark'],
  [1280, 'light'],
  [1280, 'dark'],
] as const)(
  'at %i px in %s mode, nothing is cut off and axe reports no violation',
  async (width, colorScheme) => {
    const viewport = { width, height: 800 };
    const { page } = await open({ viewport, colorScheme, catalogStatus: 503 });
    await page.getByRole('status').getByText('catalog is down').waitFor();

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    await page.evaluate(axe);
    expect(
      await page.evaluate(`axe.run().then(({ violations }) => violations
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`),
    ).toEqual([]);
  },
);
