import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { afterEach, expect, onTestFinished, test, vi } from 'vitest';

import { builtProgram } from './install-tool.ts';
import { fakePrograms } from './testing/fake-programs.ts';
import { ensureTool, newestFirst } from './tools.ts';

afterEach(() => vi.unstubAllEnvs());

const PAGE = 'https://github.com/zegl/kube-score#installation';
const WITHOUT_GO =
  `kube-score is missing: install it (${PAGE}), ` +
  'or install Go 1.26 and run make again to build it';

/** A folder that is removed when the test ends. */
function newFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tools-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

/** `node tools.ts` in the environment of this test. */
function runTools(...args: readonly string[]) {
  const file = path.join(import.meta.dirname, 'tools.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [file, ...args], {
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

/** A machine without Go and without the tools that Go builds. */
function useBareMachine(): void {
  vi.stubEnv('PATH', '/nonexistent');
  vi.stubEnv('XDG_CACHE_HOME', newFolder());
}

test('newestFirst sorts versions by number', () => {
  expect(newestFirst(['/opt/postgresql@9', '/opt/postgresql@18'])).toEqual([
    '/opt/postgresql@18',
    '/opt/postgresql@9',
  ]);
});

test('ensureTool finds the PostgreSQL server of Debian, in the folder of initdb', () => {
  const postgres = ensureTool('postgres');

  expect(execFileSync(postgres, ['--version'], { encoding: 'utf8' })).toContain('PostgreSQL');
  expect(
    execFileSync(path.join(path.dirname(postgres), 'initdb'), ['--version'], { encoding: 'utf8' }),
  ).toContain('PostgreSQL');
});

test('an installed tool is not installed again', () => {
  ensureTool('postgres');

  expect(runTools('postgres')).toEqual({ status: 0, stdout: '', stderr: '' });
});

test('an unknown tool is an error, also with --optional', () => {
  expect(runTools('--optional', 'mongodb')).toEqual({
    status: 1,
    stdout: '',
    stderr:
      'Cannot install "mongodb": expected one of nginx, redis, chromium, postgres, prometheus, faketime, promtool, java, wrk, helm, k6, kube-score, toxiproxy-server, h2spec\n',
  });
});

test('without Go, the error of each missing tool contains installation instructions', () => {
  useBareMachine();

  expect(runTools('kube-score', 'h2spec')).toEqual({
    status: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^kube-score is missing: install it .*\nh2spec is missing: .*\n$/,
    ),
  });
});

test('with --optional, a tool that cannot be installed is no error, and a test that needs it reports the reason', () => {
  useBareMachine();

  expect(runTools('--optional', 'kube-score')).toEqual({
    status: 0,
    stdout: '',
    stderr: `${WITHOUT_GO}\n`,
  });
  expect(() => ensureTool('kube-score')).toThrow(WITHOUT_GO);
});

test('Go builds a tool in the module that pins it, and the error of a failed build contains the reason', () => {
  useBareMachine();
  using programs = fakePrograms({ go: 'build*) echo "go: no such module" >&2; exit 1;;' });
  const module = path.join(import.meta.dirname, 'go/kube-score');

  const { status, stdout, stderr } = runTools('kube-score');

  expect(programs.calls()).toContainEqual(
    expect.stringMatching(new RegExp(`^go build -C ${module} .* tool$`)),
  );
  expect(stdout).toBe('Building kube-score, which is missing: this takes minutes\n');
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: `Cannot build kube-score (go: no such module): install it instead (${PAGE})\n`,
  });
});

test('a test installs nothing', () => {
  useBareMachine();
  using programs = fakePrograms({ go: '' });

  expect(() => ensureTool('kube-score')).toThrow('kube-score is missing: "make test" installs it');
  expect(programs.calls()).toEqual([]);
});

test.each(['absolute', 'relative'])(
  'every checkout finds a built tool in the cache of the user, with XDG_CACHE_HOME %s',
  (form) => {
    useBareMachine();
    const home = newFolder();
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_CACHE_HOME', form === 'absolute' ? path.join(home, '.cache') : form);
    const built = builtProgram('kube-score');
    fs.mkdirSync(path.dirname(built), { recursive: true });
    fs.writeFileSync(built, '');

    expect(built).toContain(path.join(home, '.cache/fw/tools/kube-score-'));
    expect(runTools('kube-score')).toEqual({ status: 0, stdout: '', stderr: '' });
  },
);
