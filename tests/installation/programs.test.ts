import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { beforeAll, describe, expect, inject, test } from 'vitest';

import { type Exchange, exchange, type Received, USERS } from './exchanges.ts';
import { runProgram } from './project.ts';
import { type Runtime, VERSIONS } from './runtimes.ts';

const project = inject('project');
const runtimes = inject('runtimes');
const [newest] = runtimes as [Runtime];
const nodes = runtimes.filter(({ isNode }) => isNode);

/** A way to run the program: a folder of the project, and what runs the files in it. */
interface Variant {
  readonly title: string;
  readonly command: readonly string[];
  /** `src/*.ts`, where `*` is the name of the program. */
  readonly files: string;
}

const variants: readonly Variant[] = [
  ...runtimes.map(({ name, command }) => ({
    title: `JavaScript modules on ${name}`,
    command,
    files: 'modules/*.js',
  })),
  ...runtimes.map(({ name, command }) => ({
    title: `CommonJS on ${name}`,
    command,
    files: 'commonjs/*.cjs',
  })),
  ...runtimes
    .filter(({ runsTypeScript }) => runsTypeScript)
    .map(({ name, command }) => ({ title: `TypeScript on ${name}`, command, files: 'src/*.ts' })),
  ...nodes.map(({ name, command }) => ({
    title: `TypeScript with tsx on ${name}`,
    command: [...command, '--import', 'tsx'],
    files: 'src/*.ts',
  })),
  ...nodes.map(({ name, command }) => ({
    title: `an esbuild bundle on ${name}`,
    command,
    files: 'bundle/*.mjs',
  })),
  ...VERSIONS.typescript.map((version) => ({
    title: `JavaScript compiled by TypeScript ${version}`,
    command: newest.command,
    files: `out-${version}/*.js`,
  })),
];

describe('the program users', () => {
  let expected: Received[];
  beforeAll(async () => {
    expected = await responsesOf({ title: '', command: newest.command, files: 'src/*.ts' });
  });

  function responsesOf({ command, files }: Variant): Promise<Received[]> {
    return runProgram([...command, files.replace('*', 'users')], project, (origin) =>
      exchange(origin, USERS),
    );
  }

  test('sends the expected statuses', () => {
    const line = ({ method = 'GET', path }: Exchange, status: number) =>
      `${method} ${path}: ${status}`;

    expect(USERS.map((each, at) => line(each, expected[at]?.status ?? 0))).toEqual(
      USERS.map((each) => line(each, each.status)),
    );
  });

  test.each(variants)('sends the same responses as $title', async (variant) => {
    expect(await responsesOf(variant)).toEqual(expected);
  });
});

test.each(nodes)('a test with @fw/core/testing passes in Vitest on $name', async ({ command }) => {
  const [program = ''] = command;

  const { stdout } = await promisify(execFile)(
    program,
    ['node_modules/vitest/vitest.mjs', 'run', '--dir', 'src'],
    { cwd: project, env: { ...process.env, VITEST: undefined, NODE_OPTIONS: '', NO_COLOR: '1' } },
  );

  expect(stdout).toMatch(/Tests\s+1 passed/);
});
