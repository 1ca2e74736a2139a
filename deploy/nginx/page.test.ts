import fs from 'node:fs';
import http from 'node:http';
import { createRequire } from 'node:module';

import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { launchBrowser } from '../local/testing/browser.ts';
import { listenAnywhere } from '../local/testing/ports.ts';
import { startTrialEdge } from '../local/testing/trial-edge.ts';

/** As long as the page waits between two looks at the services. */
const REFRESH_MS = 4_000;

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

/** A service that answers everything, until it is told to answer otherwise or stopped. */
async function startService() {
  const state = { status: 200 };
  const server = http.createServer((_, response) => response.writeHead(state.status).end());
  const port = await listenAnywhere(server);
  const stop = () => {
    server.close();
    server.closeAllConnections();
  };
  onTestFinished(stop);
  return { port, state, stop };
}

interface OpenOptions extends BrowserContextOptions {
  /** Answers from the start as one whose store is away. */
  readonly catalogStatus?: number;
}

/** Opens the page in front of three services of its own; time passes by `page.clock` alone. */
async function open({ catalogStatus = 200, ...options }: OpenOptions = {}) {
  const [users, catalog, reports] = [
    await startService(),
    await startService(),
    await startService(),
  ];
  catalog.state.status = catalogStatus;
  const edge = await startTrialEdge({
    users: [users.port],
    catalog: [catalog.port],
    reports: [reports.port],
  });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(async () => {
    await context.close();
    await edge.stop();
  });
  const page = await context.newPage();
  const said: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  page.on('pageerror', (error) => said.push(error.message));
  page.on('request', (request) => requested.push(request.url()));
  await page.clock.install();
  await page.goto(edge.origin);
  return { page, origin: edge.origin, services: { users, catalog, reports }, said, requested };
}

function stateOf(page: Page, name: string): Promise<string | null> {
  return page
    .getByRole('article')
    .filter({ has: page.getByRole('heading', { name, exact: true }) })
    .getAttribute('data-state');
}

test('the page shows three services that are up, asks the edge alone, and the console stays empty', async () => {
  const { page, origin, said, requested } = await open();

  await page.getByRole('status').getByText('All three are up').waitFor();

  for (const name of ['users', 'catalog', 'reports']) expect(await stateOf(page, name)).toBe('up');
  expect(requested.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
  expect(said).toEqual([]);
});

test('a service that is stopped shows as down, and one that comes to itself as up again', async () => {
  const { page, services } = await open();
  await page.getByRole('status').getByText('All three are up').waitFor();

  services.reports.stop();
  services.users.state.status = 503;
  await page.clock.fastForward(REFRESH_MS);
  await page.getByRole('status').getByText('users and reports are down').waitFor();
  const detail = await page.locator('[data-state=down] .detail').allInnerTexts();
  services.users.state.status = 200;
  await page.clock.fastForward(REFRESH_MS);
  await page.getByRole('status').getByText('reports is down').waitFor();

  expect(detail).toEqual(['answered 503', 'answered 502']);
  expect(await stateOf(page, 'users')).toBe('up');
  expect(await stateOf(page, 'catalog')).toBe('up');
  expect(await stateOf(page, 'reports')).toBe('down');
});

test('a page that nobody looks at asks nobody', async () => {
  const { page, requested } = await open();
  await page.getByRole('status').getByText('All three are up').waitFor();
  await page.evaluate(`
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => true });
    document.dispatchEvent(new Event('visibilitychange'));
  `);
  const before = requested.length;
  await page.clock.fastForward(3 * REFRESH_MS);

  expect(requested.length).toBe(before);
});

test('a line is copied as it has to be typed, with the address of the page', async () => {
  const { page, origin } = await open({ permissions: ['clipboard-read', 'clipboard-write'] });

  await page.getByRole('button', { name: 'Copy: Search the catalog' }).click();

  await page.getByRole('button', { name: 'Copied' }).or(page.getByText('Copied')).first().waitFor();
  expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
    `curl '${origin}/api/v2/catalog?q=turntable&sort=-price&limit=3'`,
  );
});

test('where the browser allows no copying the line is selected', async () => {
  const { page, origin } = await open();
  await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('no'))`);

  await page.getByRole('button', { name: 'Copy: Search the catalog' }).click();

  await page.getByText('Selected').waitFor();
  expect(await page.evaluate('String(getSelection())')).toContain(`curl '${origin}/api/v2/catalog`);
});

test('each service leads to its documentation and its versions, by keyboard too', async () => {
  const { page } = await open();

  const links = await page.getByRole('navigation').getByRole('link').all();
  const targets = await Promise.all(links.map((link) => link.getAttribute('href')));
  await page.keyboard.press('Tab');
  const first = await page.evaluate('document.activeElement.innerText');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForURL('**/docs/users');

  expect(first).toBe('Skip to the lines to copy');
  expect(targets).toEqual(
    ['users', 'catalog', 'reports'].flatMap((name) => [
      `/docs/${name}`,
      expect.stringMatching(`^/api/v1/${name}`),
      expect.stringMatching(`^/api/v2/${name}`),
    ]),
  );
});

test('without JavaScript everything but the states is there', async () => {
  const { page } = await open({ javaScriptEnabled: false });

  expect(await page.getByRole('status').innerText()).toContain('needs JavaScript');
  expect(await page.getByRole('link', { name: 'Documentation' }).count()).toBe(3);
  expect(await page.locator('pre').count()).toBe(4);
});

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test.each([
  [360, 'light'],
  [360, 'dark'],
  [1280, 'light'],
  [1280, 'dark'],
] as const)(
  'at %i px in %s nothing is cut off, and axe finds no fault',
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
