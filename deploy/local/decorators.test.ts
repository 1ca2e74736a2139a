import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

const HOOKS = path.join(import.meta.dirname, 'decorators.ts');
/** The folder of the transformed files. */
const KEPT = path.resolve(import.meta.dirname, '../../.local/decorators');

test('a file with decorators that replaces a newer one is transformed again', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw ü decorators-'));
  onTestFinished(() => {
    fs.rmSync(folder, { recursive: true });
    for (const name of fs.readdirSync(KEPT)) {
      if (name.includes(path.basename(folder))) fs.rmSync(path.join(KEPT, name));
    }
  });
  const file = path.join(folder, 'services/main.ts');
  fs.mkdirSync(path.dirname(file));
  const write = (name: string, text: string) =>
    fs.writeFileSync(
      name,
      `const Print = (text: string) => () => console.log(text);
@Print('${text}')
class Service {}
void Service;`,
    );
  const run = () => execFileSync(process.execPath, ['--import', HOOKS, file], { encoding: 'utf8' });
  write(`${file}.old`, 'old');
  fs.utimesSync(`${file}.old`, 1, 1);
  write(file, 'new');

  const first = run();
  fs.renameSync(`${file}.old`, file);

  expect([first, run(), run()]).toEqual(['new\n', 'old\n', 'old\n']);
});
