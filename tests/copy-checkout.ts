import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const ROOT = path.resolve(import.meta.dirname, '..');

/** Variables of this run of make and Vitest, and of other systems, which would change what a copy does. */
const REMOVED = new RegExp(
  '^(?:MAKE|MFLAGS$|VITEST|TEST|NODE_ENV$|npm_|FULL$|SOURCE$|BASE$|TOKEN$|JWT_SECRET$|BACKEND$|TIMEOUT$|' +
    'VALUES$|KUBECONFIG$)',
);

/**
 * Copies the committed and new files of this checkout, and its installed packages, to a temporary folder
 * such as `/tmp/fw-kind-Xa9f2c`.
 *
 * @returns the folder, which the caller removes
 */
export function copyCheckout(name: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), `fw-${name}-`));
  const listed = execFileSync('git', ['ls-files', '-z', '-co', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  // Each name ends in \0; a file that was removed is still listed until the removal is committed.
  const files = listed.split('\0').slice(0, -1);
  for (const file of files.filter((name) => fs.existsSync(path.join(ROOT, name)))) {
    fs.cpSync(path.join(ROOT, file), path.join(folder, file), {
      recursive: true,
      verbatimSymlinks: true,
    });
  }
  copyPackages(folder);
  return folder;
}

/** The environment of commands in a copy: with the running Node, which the copy would install otherwise. */
export function copyEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !REMOVED.test(name));
  const PATH = [path.dirname(process.execPath), process.env.PATH].join(path.delimiter);
  return { ...Object.fromEntries(kept), PATH };
}

/** The packages, with their relative links to the workspaces. */
function copyPackages(folder: string): void {
  fs.cpSync(path.join(ROOT, 'node_modules'), path.join(folder, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    filter: (file) => path.basename(file) !== '.cache',
  });
  // make compares it with package-lock.json, which is now newer.
  fs.writeFileSync(path.join(folder, 'node_modules/.installed'), '');
}
