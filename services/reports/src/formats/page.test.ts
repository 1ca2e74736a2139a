import fs from 'node:fs';
import { createRequire } from 'node:module';

import { listen } from 'fw';
import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { ensureTool } from '../../../../tools/programs.ts';
import type { Figures } from '../figures.ts';
import { CATALOG, newApp, tokenOf, USERS } from '../testing.ts';

const axe = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let browser: Browser;
beforeAll(async () => {
  const executablePath = ensureTool('chromium');
  browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
});
afterAll(() => browser.close());

/** Opens the page of a report; `messages` are those of the console, and dialogs. */
async function open(id: string, options: BrowserContextOptions & { figures?: Figures } = {}) {
  const { figures, ...contextOptions } = options;
  const server = await listen(newApp(figures && { figures }), { port: 0, host: '127.0.0.1' });
  const context = await browser.newContext({
    extraHTTPHeaders: { Authorization: `Bearer ${tokenOf('ada')}` },
    ...contextOptions,
  });
  onTestFinished(async () => {
    await context.close();
    await server.close();
  });
  const page = await context.newPage();
  const messages: string[] = [];
  page.on('console', (message) => messages.push(message.text()));
  page.on('pageerror', (error) => messages.push(error.message));
  page.on('dialog', (dialog) => {
    messages.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(`http://127.0.0.1:${server.port}/api/v2/reports/${id}`);
  return { page, messages };
}

const long = 'a-very-long-name-that-goes-on-and-on-'.repeat(6);
const [kitchen] = CATALOG.byCategory;
const HOSTILE: Figures = {
  users: {
    ...USERS,
    byDomain: [
      { domain: `${long}.example`, count: 9_999_999 },
      { domain: '<img src=x onerror=alert(1)>', count: 1 },
      { domain: '"><script>alert(1)</script>', count: 1 },
    ],
  },
  catalog: { total: 1, byCategory: [{ ...kitchen!, category: long, maxPriceCents: 999_999_999 }] },
};

test.each([
  [360, 'overview', 'light', undefined],
  [360, 'prices-by-category', 'dark', undefined],
  [320, 'users-by-email-domain', 'light', HOSTILE],
  [320, 'prices-by-category', 'dark', HOSTILE],
  [1200, 'overview', 'dark', { catalog: CATALOG }],
] as const)(
  'at %i px the page of %s fits in the %s, and axe reports no violation',
  async (width, id, colorScheme, figures) => {
    const viewport = { width, height: 800 };
    const { page, messages } = await open(id, {
      colorScheme,
      viewport,
      ...(figures && { figures }),
    });

    await page.evaluate(axe);
    const faults = await page.evaluate(`axe.run().then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
    const pageWidth = await page.evaluate('document.documentElement.scrollWidth');

    expect(messages).toEqual([]); // the policy blocks nothing, and no script runs
    expect(faults).toEqual([]);
    expect(pageWidth).toBe(width);
  },
);

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
  readonly fontPx: number;
}

test('on a phone no labels of a chart overlap and none is smaller than 12 px', async () => {
  const { page } = await open('overview', { viewport: { width: 360, height: 800 } });

  const boxes = await page.evaluate<Box[]>(`
    [...document.querySelectorAll('.chart text')].map((text) => {
      const { left, right, top, bottom } = text.getBoundingClientRect();
      return { left, right, top, bottom, fontPx: parseFloat(getComputedStyle(text).fontSize) };
    })`);

  const overlapping = boxes.flatMap((a, at) =>
    boxes
      .slice(at + 1)
      .filter((b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom)
      .map((b) => [a, b]),
  );
  expect(boxes.length).toBeGreaterThan(10);
  expect(overlapping).toEqual([]);
  expect(Math.min(...boxes.map(({ fontPx }) => fontPx))).toBeGreaterThanOrEqual(12);
  expect(Math.max(...boxes.map(({ right }) => right))).toBeLessThanOrEqual(360);
  expect(Math.min(...boxes.map(({ left }) => left))).toBeGreaterThanOrEqual(0);
});

test('a chart has a name and a description, and the table contains its values', async () => {
  const { page } = await open('items-by-category');

  const chart = page.getByRole('img', { name: /^Items by category/ });

  expect(await chart.count()).toBe(1);
  expect(await page.getByRole('row').allTextContents()).toEqual([
    'CategoryItems',
    'Kitchen212',
    'Outdoor174',
    'Audio133',
    'Home Office101',
    'Books96',
    'Toys12',
  ]);
});
