import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { readSettings } from '../settings.ts';
import { readBlocks, scriptOf } from './readme.ts';

test('what is typed is all that the page shows, but for bringing the images', () => {
  const typed = readBlocks().join('\n');

  for (const step of ['upgrade --install', 'test', 'upgrade', 'rollback', 'uninstall']) {
    expect(typed).toContain(`helm ${step} platform`);
  }
  expect(typed).toMatch(/^curl /m);
  expect(typed).not.toMatch(/docker|make images/);
});

test('the script is one that bash reads, and stays in its own namespace', () => {
  const settings = readSettings({ NGINX_IMAGE: 'local/nginx:1.26' });
  const space = { name: 'fw-e2e-readme-1', troubles: async () => '' };

  const script = scriptOf({ settings, space }, readBlocks());

  execFileSync('bash', ['-n', '-c', script]);
  expect(script).not.toMatch(/namespace fw\b(?!-e2e)/);
  expect(script).toContain(
    'edge: {"image":{"registry":"","repository":"local/nginx","tag":"1.26"}}',
  );
});
