import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { promisify } from 'node:util';

import { expect, onTestFinished, test } from 'vitest';

const PROGRAM = path.join(import.meta.dirname, 'api-usage.ts');

async function run(METRICS: string, ...args: readonly string[]) {
  const env = { ...process.env, METRICS };
  const result = promisify(execFile)(process.execPath, [PROGRAM, ...args], { env });
  return result.then(
    ({ stdout }) => ({ code: 0, stdout, stderr: '' }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

/** Serves `text` on a free port, and returns its address. */
async function serve(text: string, status = 200): Promise<string> {
  const server = http.createServer((_req, res) => res.writeHead(status).end(text));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
}

test('api-usage reads every address in METRICS', async () => {
  const sample = 'api_requests_total{version="v1",path="/api/v1/users",client="curl"} 2\n';
  const text = `# TYPE api_requests_total counter\n${sample}`;
  const urls = [await serve(text), await serve(text)];

  const { code, stdout } = await run(urls.join(' '));

  expect(code).toBe(0);
  expect(stdout).toMatch(/^\/api\/v1\/users +curl +4 +100\.0 %$/m);
});

test('api-usage prints no error if its reader has closed the pipe', async () => {
  const METRICS = await serve('# TYPE api_requests_total counter\n');
  const child = spawn(process.execPath, [PROGRAM], { env: { ...process.env, METRICS } });
  child.stdout.destroy();

  const [errors, [code]] = await Promise.all([readText(child.stderr), once(child, 'exit')]);

  expect({ errors, code }).toEqual({ errors: '', code: 0 });
});

test.each([
  [503, '', 'it responds with 503'],
  [200, 'process_start_time_seconds 1\n', 'expected metrics with api_requests_total'],
])('api-usage fails in one line for a response %i with %j', async (status, text, reason) => {
  const url = await serve(text, status);

  expect(await run(url)).toEqual({
    code: 1,
    stdout: '',
    stderr: `Cannot read ${url}: ${reason}\n`,
  });
});

test.each([
  ['localhost:9090', [], 'METRICS must be URLs of metrics, got "localhost:9090"\n'],
  ['', ['--version', 'v3'], 'VERSION must be v1 or v2, got "v3"\n'],
])('METRICS=%s %j is rejected in one line', async (metrics, args, stderr) => {
  expect(await run(metrics, ...args)).toEqual({ code: 1, stdout: '', stderr });
});
