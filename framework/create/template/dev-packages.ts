import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

// dev.ts starts a process with `--import` of this file before the next change: it loads the packages of package.json,
// and then waits for a message, so that only the program's own files are left to load.

async function loadPackages(program: string): Promise<void> {
  const file = findPackageJSON('..', pathToFileURL(path.resolve(program))) ?? '';
  const { dependencies } = JSON.parse(readFileSync(file, 'utf8'));
  await Promise.all(Object.keys(dependencies).map((name) => import(name)));
}

const { DEV_PROGRAM: program } = process.env;
// Threads and processes of the program inherit `--import`: they would wait for a message too.
delete process.env.DEV_PROGRAM;
if (program) {
  const exit = (): never => process.exit();
  process.once('disconnect', exit);
  await loadPackages(program).catch(() => {}); // the program reports what is missing
  await once(process, 'message');
  process.off('disconnect', exit);
  process.disconnect?.();
}
