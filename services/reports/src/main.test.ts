import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { runToEnd, startService, type Variables } from '@fw/service/testing';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);
const TOKEN = 'ada-0123456789abcdef';

async function start(variables: Variables) {
  const service = await startService(MAIN, { DRAIN_DELAY_MS: '0', ...variables });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  return service;
}

function fileOf(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'tokens-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'tokens');
  writeFileSync(file, content);
  return file;
}

async function statusFor(url: string, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(`${url}/api/v1/reports`, { headers })).status;
}

test('the service knows the tokens of TOKENS, is ready, and ends on SIGTERM with exit code 0', async () => {
  const service = await start({ TOKENS: `${TOKEN}=ada` });

  expect(await statusFor(service.url, TOKEN)).toBe(200);
  expect(await statusFor(service.url, 'eve-0123456789abcdef')).toBe(401);
  expect((await fetch(`${service.healthUrl}/readyz`)).status).toBe(200);

  service.signal('SIGTERM');
  expect(await service.ended).toMatchObject({ code: 0, stderr: '' });
});

test('the service knows the tokens of TOKENS_FILE', async () => {
  const service = await start({ TOKENS_FILE: fileOf(`${TOKEN}=ada\n`) });

  expect(await statusFor(service.url, TOKEN)).toBe(200);
});

// A second is plenty; on a machine that is busy with all tests at once one start may miss it.
test.for([
  [{}, 'TOKENS is missing: expected token=userId entries, or TOKENS_FILE with them'],
  [{ TOKENS: 'secret' }, 'Cannot read TOKENS: entry 1 must be token=userId'],
  [{ TOKENS: 'a', TOKENS_FILE: 'b' }, 'TOKENS and TOKENS_FILE are both set: expected one of them'],
  [{ TOKENS_FILE: '/nowhere' }, 'Cannot read tokens from "/nowhere": ENOENT'],
  [{ TOKENS: `${TOKEN}=ada`, PORT: '99999' }, 'PORT must be an integer from 0 to 65535'],
] as const)(
  'with %j the service says what is wrong in one line',
  { retry: 2 },
  async ([variables, reason]) => {
    const ending = await runToEnd(MAIN, { PORT: '0', HEALTH_PORT: '0', ...variables });

    expect(ending.code).toBe(1);
    expect(ending.stderr).toMatch(/^Cannot run reports: [^\n]+\n$/);
    expect(ending.stderr).toContain(reason);
    expect(ending.stderr).not.toMatch(/secret|ada-0/);
    expect(ending.durationMs).toBeLessThan(1_000);
  },
);
