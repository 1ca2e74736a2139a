import { expect, test } from 'vitest';
import { integer, secret } from '../config/variable.ts';
import { readCommandLine, UsageError } from './command-line.ts';

const program = {
  name: 'hello',
  summary: 'greets the world',
  variables: {
    PORT: integer({ from: 0, to: 9, fallback: 7, meaning: 'port of the API' }),
    WAIT_MS: integer({ from: 0, to: 9, fallback: 5, unit: 'ms', meaning: 'how long it waits' }),
    KEY: secret({ meaning: 'what opens the door' }),
  },
  commands: { greet: { summary: 'greets once', usage: 'NAME [--loud]' } },
};

test.each([[[]], [['serve']]])('%j asks to serve', (args) => {
  expect(readCommandLine(program, args)).toEqual({ kind: 'serve' });
});

test('a command keeps its arguments', () => {
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

  serve                serves until SIGTERM; what happens without a command
  greet NAME [--loud]  greets once
  config [--json]      prints every variable of the environment that is read
  --help               prints this
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
KEY       none     what opens the door (secret; or KEY_FILE)
`,
  });
});

test('config --json prints them for programs', () => {
  const request = readCommandLine(program, ['config', '--json']);

  expect(JSON.parse(request.kind === 'print' ? request.text : '')).toEqual([
    { name: 'PORT', default: '7', meaning: 'port of the API', secret: false },
    { name: 'WAIT_MS', default: '5', unit: 'ms', meaning: 'how long it waits', secret: false },
    { name: 'KEY', meaning: 'what opens the door', secret: true },
  ]);
});

test.each([
  [['sevre']],
  [['serve', 'twice']],
  [['config', '--yaml']],
  [['constructor']],
  [['--port', '80']],
])('%j is no command', (args) => {
  expect(() => readCommandLine(program, args)).toThrow(
    new UsageError(`Cannot run hello: "${args.join(' ')}" is no command; --help lists them`),
  );
});
