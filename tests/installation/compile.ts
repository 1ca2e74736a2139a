import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * The strictest options that a project with declarations may have; nothing is skipped. Without `types`,
 * which TypeScript 7 sets to `[]`: the declarations load the types of Node.
 */
const OPTIONS = {
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  strict: true,
  declaration: true,
  isolatedModules: true,
  verbatimModuleSyntax: true,
  noUncheckedIndexedAccess: true,
  rewriteRelativeImportExtensions: true,
  skipLibCheck: false,
  rootDir: 'src',
};

/**
 * Compiles the programs of a project into `out-VERSION` with a version of TypeScript.
 *
 * @throws {Error} with the output of the compiler, if it finds an error
 */
export async function compile(
  project: string,
  version: string,
  options: Readonly<Record<string, unknown>>,
): Promise<void> {
  const compilerOptions = { ...OPTIONS, outDir: `out-${version}`, ...options };
  const config = path.join(project, `tsconfig-${crypto.randomUUID()}.json`);
  fs.writeFileSync(config, JSON.stringify({ compilerOptions, include: ['src'] }));
  const tsc = path.join(project, 'node_modules', `typescript-${version}`, 'bin/tsc');
  try {
    await promisify(execFile)(process.execPath, [tsc, '--project', config]);
  } catch (cause) {
    const { stdout } = cause as { stdout: string };
    throw new Error(`TypeScript ${version} rejects the programs:\n${stdout}`, { cause });
  }
}
