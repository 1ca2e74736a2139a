import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.resolve(import.meta.dirname, '../..');
const programs = path.join(import.meta.dirname, 'programs');

/** The version of a development dependency of this repository. */
export function versionOf(name: string): string {
  const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  return manifest.devDependencies[name];
}

/**
 * Creates a project in `folder` and installs packages into it; returns what npm printed.
 *
 * @throws {Error} if npm cannot install them
 */
export async function install(folder: string, args: readonly string[]): Promise<string> {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, 'package.json'), '{"private":true,"type":"module"}');
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

/** Writes programs into a folder. */
export function writePrograms(folder: string, written: readonly Program[]): void {
  fs.mkdirSync(folder, { recursive: true });
  for (const { name, code } of written) fs.writeFileSync(path.join(folder, name), code);
}
