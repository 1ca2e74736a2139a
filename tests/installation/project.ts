import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';

import { startProgram } from '../../deploy/local/testing/program.ts';
import { listPackages } from '../../tools/packages/pack.ts';

const root = path.resolve(import.meta.dirname, '../..');
const programs = path.join(import.meta.dirname, 'programs');

/** The version of a development dependency of this repository. */
export function versionOf(name: string): string {
  const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  return manifest.devDependencies[name];
}

/**
 * Installs packages into the project in `folder`, which it creates if there is none; returns what npm printed.
 *
 * @throws {Error} if npm cannot install them
 */
export async function install(folder: string, args: readonly string[]): Promise<string> {
  fs.mkdirSync(folder, { recursive: true });
  const manifest = path.join(folder, 'package.json');
  if (!fs.existsSync(manifest)) fs.writeFileSync(manifest, '{"private":true,"type":"module"}');
  const { stdout, stderr } = await promisify(execFile)(
    'npm',
    ['install', '--prefer-offline', '--no-audit', '--no-fund', ...args],
    { cwd: folder },
  );
  return stdout + stderr;
}

/** A program by its file name. */
export interface Program {
  readonly name: string;
  readonly code: string;
}

/** The programs that a user writes, in TypeScript; `users-app-test.ts` is a test. */
export function readPrograms(): Program[] {
  return fs.readdirSync(programs).map((name) => ({
    name: name.replace('-test.ts', '.test.ts'),
    code: fs.readFileSync(path.join(programs, name), 'utf8'),
  }));
}

/** The program in README.md. */
export function readmeProgram(): string {
  const readme = fs.readFileSync(path.join(root, 'README.md'), 'utf8');
  return /^```ts\n(import .*?)^```/ms.exec(readme)?.[1] ?? '';
}

/** Writes programs into a folder. */
export function writePrograms(folder: string, written: readonly Program[]): void {
  fs.mkdirSync(folder, { recursive: true });
  for (const { name, code } of written) fs.writeFileSync(path.join(folder, name), code);
}

/** The same program as a module in JavaScript. */
export function asModule({ name, code }: Program): Program {
  const script = stripTypeScriptTypes(code).replace(/(from '\.[^']*)\.ts'/g, "$1.js'");
  return { name: name.replace(/\.ts$/, '.js'), code: script };
}

/** The same program in CommonJS: `require` and `exports` instead of `import` and `export`. */
export function asCommonJs(program: Program): Program {
  const { name, code } = asModule(program);
  const exported: string[] = [];
  const required = code
    .replace(/^import (\{[^}]*\}) from ('[^']+');/gm, 'const $1 = require($2);')
    .replace(/(require\('\.[^']*)\.js'/g, "$1.cjs'")
    .replace(/^export (function|const) (\w+)/gm, (_match, kind, exportedName) => {
      exported.push(exportedName);
      return `${kind} ${exportedName}`;
    });
  return {
    name: name.replace(/\.js$/, '.cjs'),
    code: `'use strict';\n${required}\nmodule.exports = { ${exported.join(', ')} };\n`,
  };
}

/** Starts a server program on a free port, calls `use` with its origin, and kills it. */
export async function runProgram<T>(
  command: readonly string[],
  folder: string,
  use: (origin: string) => Promise<T>,
): Promise<T> {
  const { match, stop } = await startProgram(command, {
    cwd: folder,
    env: { ...process.env, PORT: '0', HEALTH_PORT: '0', NODE_OPTIONS: '' },
    ready: /http:\/\/127\.0\.0\.1:\d+/,
  });
  try {
    return await use(match[0] ?? '');
  } finally {
    await stop('SIGKILL');
  }
}

/** Entries that import an optional peer, or are for processes of Vitest. */
const NEEDS_A_PEER =
  /^@fw\/(?:middleware\/(?:bearer-token|websocket)|service\/(?:postgres|testing))/;

/** Every entry of every package that a project can import without installing anything else. */
export function listEntries(): string[] {
  return listPackages()
    .flatMap(({ manifest }) =>
      Object.keys(manifest.exports).map((entry) => path.posix.join(manifest.name, entry)),
    )
    .filter((entry) => !NEEDS_A_PEER.test(entry));
}
