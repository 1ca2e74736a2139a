import fs from 'node:fs';
import path from 'node:path';

import { afterEach, expect, test, vi } from 'vitest';

import { folders } from '../state.ts';
import { FILES_BY_TOOL, skippedFiles, skippedLine } from './skipped-files.ts';

afterEach(() => vi.unstubAllEnvs());

/** A machine that has none of the programs and no Go, outside CI. */
function useBareMachine(): void {
  vi.stubEnv('CI', undefined);
  vi.stubEnv('PATH', '/nonexistent');
  vi.stubEnv('XDG_CACHE_HOME', '/nonexistent');
}

test('without the programs and without Go, the files that need them are skipped and one line says how to install them', () => {
  useBareMachine();

  expect(skippedFiles()).toContain('deploy/charts/**/*.test.ts');
  expect(skippedLine()?.split('\n')).toEqual([
    expect.stringMatching(
      /^Skipped deploy\/charts\/\*\*\/\*\.test\.ts, .*: install Go 1\.26, .* or install helm \(https:\/\/helm\.sh\/docs\/intro\/install\), /,
    ),
  ]);
});

test('the line does not list files that another pattern covers', () => {
  useBareMachine();

  expect(skippedLine()).toMatch(
    /^Skipped deploy\/charts\/\*\*\/\*\.test\.ts, deploy\/ways-in\/values\.test\.ts, deploy\/local\/cluster\/platform-values\.test\.ts, deploy\/k6\/run\.test\.ts, deploy\/local\/processes\/without-version\.test\.ts, tests\/chaos\/faults\/toxiproxy\.test\.ts: /,
  );
});

test('in CI no file is skipped', () => {
  useBareMachine();
  vi.stubEnv('CI', 'true');

  expect(skippedFiles()).toEqual([]);
  expect(skippedLine()).toBeUndefined();
});

/** What a test file contains if it runs a program, directly or through a module of its folder. */
const SIGNS = [
  { tool: 'helm', sign: /\.\/render\.ts'|tests\/render\.ts|ensureTool\('helm'\)/ },
  { tool: 'helm3', sign: /'helm3'/ },
  { tool: 'kube-score', sign: /\/score\.ts/ },
  { tool: 'k6', sign: /runLoad|k6\/run\.ts/ },
  { tool: 'toxiproxy-server', sign: /startToxiproxy/ },
] as const;

test.each(SIGNS)('every test file that runs $tool is in the list', ({ tool, sign }) => {
  const users = fs
    .globSync('{deploy,framework,services,tests}/**/*.test.ts', {
      cwd: folders.root,
      exclude: ['**/node_modules/**'],
    })
    .filter((file) => file !== path.relative(folders.root, import.meta.filename))
    .filter((file) => sign.test(fs.readFileSync(path.join(folders.root, file), 'utf8')));

  const unlisted = users.filter(
    (file) => !FILES_BY_TOOL[tool].some((pattern) => path.matchesGlob(file, pattern)),
  );

  expect(users).not.toEqual([]);
  expect(unlisted).toEqual([]);
});
