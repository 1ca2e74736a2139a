import path from 'node:path';
import { pathToFileURL } from 'node:url';

/** The value of `NODE_OPTIONS` with which a process loads programs of the folder `preload`. */
export function nodeOptionsOf(programs: readonly ('collect-garbage' | 'leak')[]): string {
  const files = programs.map((name) => path.join(import.meta.dirname, 'preload', `${name}.ts`));
  const imports = files.map((file) => `--import=${pathToFileURL(file).href}`);
  return ['--expose-gc', ...imports].join(' ');
}
