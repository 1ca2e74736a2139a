import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

const MODULE = new URL('private-fields.ts', import.meta.url).href;

function partsWith(env: NodeJS.ProcessEnv): unknown {
  const code = `import { privateParts } from '${MODULE}'; console.log(JSON.stringify(privateParts))`;
  const { FW_PUBLIC_NODE_API: _, ...inherited } = process.env;
  const options = { env: { ...inherited, ...env }, encoding: 'utf8' } as const;
  return JSON.parse(execFileSync(process.execPath, ['--input-type=module', '-e', code], options));
}

test('all private parts are used in this version of Node', () => {
  expect(partsWith({})).toEqual({ head: true, body: true, socket: true });
});

test('FW_PUBLIC_NODE_API=1 selects the public functions', () => {
  expect(partsWith({ FW_PUBLIC_NODE_API: '1' })).toEqual({
    head: false,
    body: false,
    socket: false,
  });
});

test('a Node whose parser and responses behave differently gets the public functions', () => {
  const change = `
    const { IncomingMessage, ServerResponse } = process.getBuiltinModule('node:http');
    IncomingMessage.prototype.push = function () { throw new Error('renamed') };
  `;
  expect(
    partsWith({ NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(change)}` }),
  ).toEqual({
    head: false,
    body: false,
    socket: false,
  });
});
