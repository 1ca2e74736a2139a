import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const MODULE = /(?<!\.d|\.test|\.spec)\.[cm]?[jt]s$/;
const DECORATION = /\bController\s*\(/;

/**
 * Returns the files below `root` that declare controllers. Other files are not loaded, because loading
 * them may have side effects.
 *
 * @throws {Error} if `root` cannot be read
 */
export async function findModuleFiles(root: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true }).catch((cause: Error) => {
    throw new Error(`Cannot read root "${root}": expected a folder`, { cause });
  });
  const files = names
    .filter((name) => MODULE.test(name) && !name.split(path.sep).includes('node_modules'))
    .sort()
    .map((name) => path.join(root, name));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')));
  return files.filter((_, index) => DECORATION.test(texts[index] ?? ''));
}
