import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { expect, test } from 'vitest';

import { buildAssets } from '../../page/build.ts';
import { PAGE_SCRIPT, PAGE_STYLE } from './page-assets.ts';

const folder = path.join(import.meta.dirname, '../../page');

test('the assets match the output of page/build.ts', async () => {
  expect(fs.readFileSync(path.join(import.meta.dirname, 'page-assets.ts'), 'utf8')).toBe(
    await buildAssets(),
  );
});

test('the script cannot end its element, nor the style its own', () => {
  expect(PAGE_SCRIPT).not.toMatch(/<\/script|<!--/i);
  expect(PAGE_STYLE).not.toMatch(/<\//);
});

test('the sources of the page have no type error', () => {
  const tsc = path.join(import.meta.dirname, '../../../../node_modules/typescript/bin/tsc');

  expect(execFileSync(process.execPath, [tsc, '-p', folder], { encoding: 'utf8' })).toBe('');
});
