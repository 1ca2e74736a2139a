import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const MODULES = fileURLToPath(new URL('../../../../../node_modules', import.meta.url));

/** The errors of a program, and the work of the checker, which no load changes. */
export interface Compilation {
  /** The complete messages, without file and position. */
  readonly errors: readonly string[];
  readonly instantiations: number;
}

/** Compiles `source` as a program outside the repository, which imports files by their path. */
export async function compile(source: string): Promise<Compilation> {
  const folder = await mkdtemp(join(tmpdir(), 'fw-compile-'));
  try {
    await writeFile(join(folder, 'program.ts'), source);
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configuration()));
    const args = ['--project', folder, '--extendedDiagnostics', '--pretty', 'false'];
    const tsc = join(MODULES, 'typescript/bin/tsc');
    const { stdout }: { stdout: string } = await promisify(execFile)(process.execPath, [
      tsc,
      ...args,
    ]).catch((error) => error);
    const [, instantiations = 'NaN'] = /^Instantiations:\s+(\d+)$/m.exec(stdout) ?? [];
    const errors = [...stdout.matchAll(/error (TS.*(?:\n {2}.*)*)/g)].map(([, text = '']) => text);
    return { errors, instantiations: Number(instantiations) };
  } finally {
    await rm(folder, { recursive: true });
  }
}

function configuration(): object {
  const compilerOptions = {
    target: 'esnext',
    module: 'nodenext',
    lib: ['esnext'],
    strict: true,

    noEmit: true,
    skipLibCheck: true,
    allowImportingTsExtensions: true,
    typeRoots: [join(MODULES, '@types')],
    types: ['node'],
  };
  return { compilerOptions, files: ['program.ts'] };
}
