import { expect, test } from 'vitest';
import * as z from 'zod';

import { describeVariables, integer } from '../config/variables.ts';
import { readCommandLine, UsageError } from './command-line.ts';

const program = {
  name: 'hello',
  summary: 'greets the world',
  variables: {
    PORT: integer(0, 9).default(7).meta({ description: 'port of the API' }),
    WAIT_MS: integer(0, 9).default(5).meta({ description: 'how long it waits', unit: 'ms' }),
    KEY: z.string().optional().meta({ description: 'private key', secret: true }),
  },
  commands: { greet: { summary: 'greets once', usage: 'NAME [--loud]' } },
};

test.each([[[]], [['serve']]])('%j means serve', (args) => {
  expect(readCommandLine(program, args)).toEqual({ kind: 'serve' });
});

test('a command gets its arguments', () => {
  expect(readCommandLine(program, ['greet', 'ada', '--loud'])).toEqual({
    kind: 'command',
    name: 'greet',
    args: ['ada', '--loud'],
  });
});

test.each([['--help'], ['-h'], ['help'], ['greet', '--help']])(
  '%s %s prints the help',
  (...args) => {
    expect(readCommandLine(program, args)).toEqual({
      kind: 'print',
      text: `hello: greets the world

Usage: node main.js [command]

  serve                serves requests until SIGTERM; the default command
  greet NAME [--loud]  greets once
  config [--json]      prints every environment variable of the service
  --help               prints this text
`,
    });
  },
);

test('config prints every variable with its default, unit and meaning', () => {
  expect(readCommandLine(program, ['config'])).toEqual({
    kind: 'print',
    text: `VARIABLE  DEFAULT  MEANING
PORT      7        port of the API
WAIT_MS   5 ms     how long it waits
KEY       none     private key (secret; or KEY_FILE)
`,
  });
});

test('config --json prints the variables as JSON', () => {
  const request = readCommandLine(program, ['config', '--json']);

  const text = request.kind === 'print' ? request.text : '';
  expect(JSON.parse(text)).toEqual(describeVariables(program.variables));
});

test.each([
  [['sevre']],
  [['serve', 'twice']],
  [['config', '--yaml']],
  [['constructor']],
  [['--port', '80']],
])('%j is not a command', (args) => {
  expect(() => readCommandLine(program, args)).toThrow(
    new UsageError(`Cannot run hello: "${args.join(' ')}" is not a command; --help lists them`),
  );
});
