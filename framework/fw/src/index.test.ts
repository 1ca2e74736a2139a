import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

const fw = new URL('./index.ts', import.meta.url).href;

test('an import of fw does not load the HTTP client of Node', async () => {
  const program = `
    const { createApp, listen } = await import(${JSON.stringify(fw)});
    const server = await listen(createApp({ logger: { info() {}, warn() {}, error() {} } }), 0);
    await server.close();
    console.log(JSON.stringify(process.moduleLoadList));`;

  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '-e',
    program,
  ]);

  const loaded: string[] = JSON.parse(stdout);
  expect(loaded).toContain('NativeModule _http_server');
  expect(loaded.filter((name) => name.includes('undici'))).toEqual([]);
});
