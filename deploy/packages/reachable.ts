import fs from 'node:fs';
import path from 'node:path';

/** The relative specifier of an import or export, in JavaScript and in declarations. */
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(?\s*)['"](\.[^'"\n]*)\.js['"]/g;

/**
 * The modules that `entries` import, directly or through other modules, and the entries: paths in
 * `folder` without the extension, sorted. Declarations (`.d.ts`) import less than JavaScript (`.js`).
 */
export function reachable(
  folder: string,
  entries: readonly string[],
  extension: '.js' | '.d.ts',
): string[] {
  const found = new Set(entries);
  for (const name of found) {
    const code = fs.readFileSync(path.join(folder, `${name}${extension}`), 'utf8');
    for (const [, imported = ''] of code.matchAll(IMPORT))
      found.add(path.join(name, '..', imported));
  }
  return [...found].sort();
}
