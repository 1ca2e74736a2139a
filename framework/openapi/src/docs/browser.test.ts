import { once } from 'node:events';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import type { Application } from '@fw/core';
import { quiet } from '@fw/core/testing';
import { sse } from '@fw/middleware/sse';
import { createApp, createRouter, endpoint, listen } from 'fw';
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

import { launchBrowser } from '../../../../deploy/local/testing/browser.ts';
import { openapi } from '../index.ts';
import { createExampleApp } from '../testing/example-app.ts';

let browser: Browser;
beforeAll(async () => {
  browser = await launchBrowser();
});
afterAll(() => browser.close());

interface OpenPage {
  readonly page: Page;
  readonly origin: string;
  /** The messages of the console, including errors and policy violations. */
  readonly messages: readonly string[];
  readonly requested: readonly string[];
}

/** Opens the page of `app`, in a fresh profile. */
async function open(
  app: Application = createExampleApp(),
  { path = '/docs', ...options }: BrowserContextOptions & { path?: string } = {},
): Promise<OpenPage> {
  const server = await listen(app, { port: 0, host: '127.0.0.1' });
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  onTestFinished(async () => {
    await context.close();
    await server.close();
  });
  const page = await context.newPage();
  const messages: string[] = [];
  const requested: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('dialog', (dialog) => {
    messages.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => requested.push(request.url()));
  const origin = `http://127.0.0.1:${server.port}`;
  await page.goto(origin + path);
  await page.locator('main, [role=alert]').first().waitFor();
  return { page, origin, messages, requested };
}

function operation(page: Page, title: string) {
  return page.getByRole('article', { name: new RegExp(`^${title}`) });
}

/** Opens the form of an operation that sends a request. */
async function tryIt(page: Page, title: string) {
  const article = operation(page, title);
  await article.getByRole('button', { name: 'Try it' }).click();
  return article;
}

/** Sends the request of the form, and waits until the response has `text`. */
async function send(article: Locator, text: string) {
  await article.getByRole('button', { name: 'Send request' }).click();
  const response = article.locator('.response');
  await response.getByText(text).waitFor();
  return response;
}

/** Opens all details elements, three levels deep. */
async function openDetails(page: Page): Promise<void> {
  for (let level = 0; level < 3; level++) {
    await page.evaluate(`
      for (const details of document.querySelectorAll('details')) details.open = true;
      new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
    `);
  }
}

test('the page shows every operation, contacts only its server and logs nothing', async () => {
  const { page, origin, messages, requested } = await open();

  await expect.poll(() => page.getByRole('article').count()).toBe(9);
  expect(await page.title()).toBe('Users and files');
  expect(requested.every((url) => url.startsWith(origin) || url.startsWith('data:'))).toBe(true);
  expect(messages).toEqual([]);
});

test('search finds operations by the words of their titles, paths and descriptions', async () => {
  const { page } = await open();
  const nav = page.getByRole('navigation', { name: 'Operations' });
  const search = page.getByRole('searchbox', { name: 'Search operations' });

  await search.fill('newest PAGES');
  expect(await nav.locator('li:visible').allInnerTexts()).toEqual([
    expect.stringContaining('List users'),
  ]);
  await search.fill('files query');
  expect(await nav.locator('li:visible').allInnerTexts()).toEqual([
    expect.stringContaining('Search files'),
  ]);
  await search.fill('no such thing');
  expect(await nav.locator('li:visible').count()).toBe(0);
  expect(await nav.getByText('Nothing found').isVisible()).toBe(true);
  await search.press('Escape');
  expect(await nav.locator('li:visible').count()).toBe(10);
});

test('a link opens its operation, and so does its address', async () => {
  const { page, origin } = await open();

  await page
    .getByRole('link', { name: /Search files/ })
    .first()
    .click();

  const article = operation(page, 'Search files');
  await expect.poll(async () => (await article.boundingBox())?.y).toBeLessThan(60);
  await expect.poll(async () => (await article.boundingBox())?.y).toBeGreaterThan(-1);
  expect(page.url()).toBe(`${origin}/docs#operation/queryApiV1Files`);
  await expect
    .poll(() => page.locator('[aria-current]').allInnerTexts())
    .toEqual([expect.stringContaining('Search files')]);

  await page.reload();
  await expect.poll(async () => (await article.boundingBox())?.y).toBeLessThan(60);
});

test('try-it sends the request of the sample and shows the response', async () => {
  const { page, origin, messages } = await open();

  const article = await tryIt(page, 'Read a user');
  await article.getByLabel('id').fill('42');
  expect(await article.getByRole('region', { name: /request for/ }).innerText()).toBe(
    `curl '${origin}/api/v1/users/42'`,
  );
  const response = await send(article, '200 OK');

  expect(await response.getByRole('region').innerText()).toContain('"name": "Ada Lovelace"');
  expect(messages).toEqual([]);
});

test('try-it shows a problem response and links to the explanation of its code', async () => {
  const { page } = await open();

  const article = await tryIt(page, 'Read a user');
  await article.getByLabel('id').fill('a/b');
  const response = await send(article, '404 Not Found');
  expect(await response.innerText()).toContain('User \\"a/b\\" not found');
  await article.getByRole('link', { name: 'What NOT_FOUND means' }).click();

  await expect
    .poll(async () => (await page.getByRole('heading', { name: 'Errors' }).boundingBox())?.y)
    .toBeLessThan(120);
});

test('try-it sends body and credentials, which other operations then use too', async () => {
  const { page } = await open();
  const other = await tryIt(page, 'Delete a user');
  expect(await other.getByLabel('bearerAuth credentials').inputValue()).toBe('');

  const article = await tryIt(page, 'Create a user');
  await page.getByLabel('bearerAuth credentials').first().fill('secret');
  await article.getByLabel('Body').fill('{"name": "Grace", "email": "grace@example.com"}');
  const created = await send(article, '201 Created');

  expect(await created.innerText()).toContain('"name": "Grace"');
  expect(await other.getByRole('region', { name: /request for/ }).textContent()).toContain(
    'Authorization: Bearer secret',
  );
  await other.getByLabel('id').fill('42');
  await send(other, '204 No Content');
});

test('try-it sends the query, the value of a wildcard and the method QUERY unchanged', async () => {
  const { page } = await open();

  const list = await tryIt(page, 'List users');
  await list.getByLabel('limit').fill('5');
  await list.getByLabel('role').selectOption('admin');
  expect(await (await send(list, '"limit": 5')).innerText()).toContain('"role": "admin"');

  const download = await tryIt(page, 'Download a file');
  await download.getByLabel('path').fill('a/b c.txt');
  await send(download, 'The text of a/b c.txt');

  const search = await tryIt(page, 'Search files');
  await search.getByLabel('Body').fill('{"text": "needle"}');
  await send(search, '"needle"');
});

test('try-it shows the events of a stream as they arrive, until the reader stops it', async () => {
  const events = { tick: z.object({ count: z.int() }) };
  const next = new EventTarget();
  let isOpen = true;
  const router = createRouter().get(
    '/ticks',
    endpoint({ summary: 'Watch ticks' }),
    sse(events, async function* (_ctx, { signal }) {
      signal.addEventListener('abort', () => {
        isOpen = false;
      });
      for (let count = 1; ; count++) {
        yield { event: 'tick', data: { count } };
        await once(next, 'go', { signal });
      }
    }),
  );
  const app = createApp({ logger: quiet });
  app.use(openapi({ router, openapi: '3.2' })).route('/', router);
  const { page, messages } = await open(app);
  const article = operation(page, 'Watch ticks');

  await openDetails(page);
  expect(await article.locator('.responses').innerText()).toMatch(/event.*tick.*data.*count/s);
  await tryIt(page, 'Watch ticks');
  const response = await send(article, 'data: {"count":1}');
  next.dispatchEvent(new Event('go'));
  await response.getByText('data: {"count":2}').waitFor();
  expect(await response.innerText()).toContain('200 OK live');
  await response.getByRole('button', { name: 'Stop' }).click();

  await response.getByText('stopped').waitFor();
  await expect.poll(() => isOpen).toBe(false);
  expect(await article.getByRole('button', { name: 'Send request' }).isEnabled()).toBe(true);
  expect(messages).toEqual([]);
});

test('everything works with the keyboard', async () => {
  const { page } = await open();
  const focused = () =>
    page.evaluate('document.activeElement.innerText || document.activeElement.id');

  await page.keyboard.press('Tab');
  expect(await focused()).toBe('Skip to the operations');
  await page.keyboard.press('/');
  expect(await focused()).toBe('search');
  await page.keyboard.type('read a user');
  await page.keyboard.press('ArrowDown');
  expect(await focused()).toContain('Read a user');
  await page.keyboard.press('Enter');
  const article = operation(page, 'Read a user');
  await expect.poll(async () => (await article.boundingBox())?.y).toBeLessThan(60);
  for (let presses = 0; (await focused()) !== 'Try it' && presses < 20; presses++) {
    await page.keyboard.press('Tab');
  }
  await page.keyboard.press('Enter');
  await page.keyboard.type('42');
  await page.keyboard.press('Enter');

  await article.locator('.response').getByText('200 OK').waitFor();
  await page.keyboard.press('Control+k');
  expect(await focused()).toBe('search');
});

test('the selected theme is kept; the default follows the system', async () => {
  const { page } = await open(createExampleApp(), { colorScheme: 'dark' });
  const background = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
  const dark = await background();

  await page.getByRole('button', { name: 'Auto theme' }).first().click();
  const light = await background();
  expect(light).toBe('rgb(255, 255, 255)');
  expect(dark).not.toBe(light);
  await page.reload();
  await page.getByRole('button', { name: 'Light theme' }).first().waitFor();
  expect(await background()).toBe(light);
});

test('at 390 px the operations are behind a menu', async () => {
  const { page } = await open(createExampleApp(), { viewport: { width: 390, height: 844 } });
  const nav = page.getByRole('navigation', { name: 'Operations' });
  expect(await nav.isVisible()).toBe(false);

  await page.getByRole('button', { name: 'Menu' }).click();
  await nav.getByRole('link', { name: /Delete a user/ }).click();

  expect(await nav.isVisible()).toBe(false);
  await expect
    .poll(async () => (await operation(page, 'Delete a user').boundingBox())?.y)
    .toBeLessThan(120);
});

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

test.each(
  [390, 1280].flatMap((width) =>
    (['light', 'dark'] as const).map((scheme) => [width, scheme] as const),
  ),
)(
  'at %i px in %s no text is cut off, and axe finds no serious problem',
  async (width, colorScheme) => {
    const { page, messages } = await open(createExampleApp(), {
      viewport: { width, height: 900 },
      colorScheme,
    });
    await send(await tryIt(page, 'Create a user'), '401 Unauthorized');
    await openDetails(page);

    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    // axe would judge what is not laid out yet by where it is guessed to be.
    await page.evaluate(
      `document.styleSheets[0].insertRule('article { content-visibility: visible !important }', document.styleSheets[0].cssRules.length)`,
    );
    await page.evaluate(axe);
    const violations = await page.evaluate(`axe.run().then(({ violations }) => violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
    expect(violations).toEqual([]);
    expect(messages.filter((text) => !text.includes('401'))).toEqual([]);
  },
);

const HOSTILE = `</script><script>alert(1)</script><img src=x onerror=alert(2)>[x](javascript:alert(3))`;

test('hostile texts are not executed anywhere', async () => {
  const schema = z.object({ [HOSTILE]: z.literal(HOSTILE).describe(HOSTILE).default(HOSTILE) });
  const router = createRouter().get(
    '/u',
    endpoint({
      summary: HOSTILE,
      description: HOSTILE,
      tags: [HOSTILE],
      responses: { 200: schema },
      security: [{ [HOSTILE]: [] }],
    }),
    (ctx) => ctx.json({ [HOSTILE]: HOSTILE }),
  );
  const info = { title: HOSTILE, version: HOSTILE, description: HOSTILE };
  const app = createApp({ logger: quiet });
  app.use(openapi({ router, info })).route('/', router);

  const { page, messages } = await open(app);
  await openDetails(page);
  await page.getByRole('button', { name: 'Try it' }).click();

  expect(await page.getByRole('heading', { level: 1 }).innerText()).toContain(
    '<script>alert(1)</script>',
  );
  expect(await page.locator('img, script:not(:only-of-type), a[href^="javascript"]').count()).toBe(
    0,
  );
  expect(messages).toEqual([]);
});

test('the policy blocks an injected script', async () => {
  const { page, messages } = await open();

  await page.evaluate(`
    const script = document.createElement('script');
    try { script.textContent = 'window.isIn = true'; } catch {}
    document.body.append(script);
    try { document.body.innerHTML = '<img src=x onerror="window.isIn = true">'; } catch {}
    fetch('https://example.com').catch(() => {});
  `);

  await expect.poll(() => messages.join('\n')).toContain('connect-src');
  expect(await page.evaluate('window.isIn')).toBeUndefined();
});

test('the page works without the network once it is loaded', async () => {
  const { page } = await open();
  await page.context().setOffline(true);

  await page.getByRole('searchbox').fill('delete');
  await page
    .getByRole('link', { name: /Delete a user/ })
    .first()
    .click();
  const article = await tryIt(page, 'Delete a user');
  await article.getByLabel('id').fill('42');
  await article.getByRole('button', { name: 'Send request' }).click();

  await article.getByRole('alert').waitFor();
  expect(await article.getByRole('alert').innerText()).toMatch(/^No response: /);
});

test('the page explains why the document cannot be loaded', async () => {
  const { page } = await open(
    createExampleApp({
      toJsonSchema() {
        throw new Error('not yet');
      },
    }),
  );

  expect(await page.getByRole('alert').innerText()).toBe(
    'Cannot show the document: openapi.json returned 500 Internal Server Error',
  );
});
