import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

import { readBlocks, scriptOf } from './readme-script.ts';
import { readSettings } from './settings.ts';

test('the script has every command of the page except those that publish images', () => {
  const commands = readBlocks().join('\n');

  for (const step of ['upgrade --install', 'test', 'upgrade', 'rollback', 'uninstall']) {
    expect(commands).toContain(`helm ${step} platform`);
  }
  expect(commands).toMatch(/^curl /m);
  expect(commands).not.toMatch(/docker|make images/);
});

test('the script is valid bash and uses only its own namespace', () => {
  const settings = readSettings({ NGINX_IMAGE: 'local/nginx:1.26' });

  const script = scriptOf({ settings, namespace: 'fw-e2e-readme-1' }, readBlocks());

  execFileSync('bash', ['-n', '-c', script]);
  expect(script).not.toMatch(/namespace fw\b(?!-e2e)/);
  expect(script).toContain(
    'edge: {"image":{"registry":"","repository":"local/nginx","tag":"1.26"}}',
  );
});
