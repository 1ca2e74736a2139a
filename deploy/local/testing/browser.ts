import { type Browser, chromium } from 'playwright-core';

import { findTool } from '../tools.ts';

/** Starts the installed Chromium; it sends requests only for the pages of a test. */
export function launchBrowser(): Promise<Browser> {
  const executablePath = findTool('chromium');
  if (!executablePath) throw new Error('Cannot find chromium: "make test" installs it');
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
