import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import type { Program } from './programs.ts';

const root = path.resolve(import.meta.dirname, '../..');

export interface TypeCheck {
  /** The first error of the compiler, if the program does not compile. */
  readonly error: string | undefined;
  /** How many types the compiler instantiated: the same on every machine. */
  readonly instantiations: number;
  /** The time that the compiler needed to check types, in seconds. */
  readonly checkSeconds: number;
}

/** Type-checks a program with the compiler of this repository, on one thread. */
export async function typeCheck(program: Program): Promise<TypeCheck> {
  mkdirSync(path.join(root, '.local'), { recursive: true });
  // Inside the checkout, so that the packages are found.
  const folder = mkdtempSync(path.join(root, '.local/type-check-'));
  try {
    for (const [file, text] of Object.entries(program))
      writeFileSync(path.join(folder, file), text);
    const compilerOptions = {
      lib: ['esnext', 'dom', 'dom.iterable'],
      rootDir: root,
      // ts-rest needs the types of zod 3.
      paths: { zod: [path.join(root, 'node_modules/zod/v3/index.d.ts')] },
    };
    const config = {
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions,
      include: ['*.ts'],
    };
    writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify(config));
    const output = await runCompiler(folder);
    return {
      error: /^.*error TS\d+: .*$/m.exec(output)?.[0],
      instantiations: readFigure(output, 'Instantiations'),
      checkSeconds: readFigure(output, 'Check time'),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function runCompiler(folder: string): Promise<string> {
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc');
  const options = ['--extendedDiagnostics', '--singleThreaded', '--pretty', 'false'];
  const run = promisify(execFile)(process.execPath, [compiler, '-p', folder, ...options], {
    maxBuffer: 64 * 1024 ** 2,
  });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return stdout;
}

function readFigure(output: string, name: string): number {
  const [, text] = new RegExp(`^${name}:\\s+([\\d.]+)`, 'm').exec(output) ?? [];
  if (text === undefined) throw new Error(`Cannot find "${name}" in the output of tsc:\n${output}`);
  return Number(text);
}
