import { execFileSync } from 'node:child_process';

import { expect, test } from 'vitest';

const MODULE = new URL('tracked-response.ts', import.meta.url).href;

/** Whether the head can be written as one string in a process with these variables. */
function canSetHeadText(env: NodeJS.ProcessEnv): boolean {
  const program = `import { canSetHeadText } from '${MODULE}'; console.log(canSetHeadText)`;
  const { FW_PUBLIC_NODE_API: _, ...inherited } = process.env;
  const options = { env: { ...inherited, ...env }, encoding: 'utf8' } as const;
  const args = ['--input-type=module', '-e', program];
  return JSON.parse(execFileSync(process.execPath, args, options));
}

/** A variable with which Node runs `change` before the program. */
function changeNode(change: string): NodeJS.ProcessEnv {
  const program = `const { ServerResponse } = process.getBuiltinModule('node:http'); ${change}`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(program)}` };
}

test.each([
  ['in this version of Node', {}, true],
  ['with FW_PUBLIC_NODE_API=1', { FW_PUBLIC_NODE_API: '1' }, false],
  [
    'if Node does not send its field',
    changeNode(`const { end } = ServerResponse.prototype;
      ServerResponse.prototype.end = function (...args) {
        this._header = 'other';
        return end.apply(this, args);
      };`),
    false,
  ],
  [
    'if a field has another type',
    changeNode("Object.defineProperty(ServerResponse.prototype, '_sent100', { value: 0 });"),
    false,
  ],
])('the head can be written as one string %s: %s', (_, env, expected) => {
  expect(canSetHeadText(env)).toBe(expected);
});
