import { type Browser, chromium } from 'playwright-core';

import { ensureTool } from '../../../tools/programs.ts';

/** Starts the installed Chromium; it sends requests only for the pages of a test. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: ensureTool('chromium'),
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
