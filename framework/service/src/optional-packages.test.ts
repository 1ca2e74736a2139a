import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { expect, test } from 'vitest';

const POSTGRES = "await import('@fw/service/postgres');";

test.each([
  ['jose', 'bearerToken()', "await import('@fw/middleware/bearer-token');"],
  ['ws', 'websocket()', "await import('@fw/middleware/websocket');"],
  ['pg', 'openPostgres()', POSTGRES],
  ['pg-connection-string', 'openPostgres()', POSTGRES],
  [
    'esbuild',
    'buildService()',
    "await (await import('@fw/service/build')).buildService({ entry: 'a', outfile: 'b' });",
  ],
  [
    '@valibot/to-json-schema',
    'schemas of valibot',
    `const { requireJsonSchema } = await import('@fw/core/schema');
    requireJsonSchema((await import('valibot')).string(), 'output');`,
  ],
])('without %s, %s is an error that names both', async (name, user, use) => {
  const program = `
    import { registerHooks } from 'node:module';
    registerHooks({
      resolve(wanted, context, next) {
        const isMissing = wanted === '${name}' && context.parentURL.includes('/framework/');
        if (!isMissing) return next(wanted, context);
        const error = new Error("Cannot find module '${name}'");
        throw Object.assign(error, { code: 'MODULE_NOT_FOUND' });
      },
    });
    try { ${use} } catch (error) { console.log(String(error)); }`;
  const args = ['--input-type=module', '--eval', program];

  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: import.meta.dirname,
  });

  expect(stdout).toBe(
    `TypeError: Cannot use ${user} without the package "${name}": npm install ${name}\n`,
  );
});
