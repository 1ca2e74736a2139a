import { type Browser, chromium } from 'playwright-core';

import { findTool } from '../tools.ts';

/** Starts the machine's Chromium, which then asks nobody but the pages that a test opens. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = findTool('chromium');
  if (!executablePath) throw new Error('Cannot find chromium: "make test" brings it');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}
