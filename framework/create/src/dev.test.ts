import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

const DEV = path.resolve(import.meta.dirname, '../template/dev.ts');

/** Prints the variable of the file `.env`, and the values of all modules in folders of `src`. */
const MAIN = `
import fs from 'node:fs';
const files = fs.globSync('src/*/*.ts').sort();
const modules = await Promise.all(files.map((file) => import('../' + file)));
console.log('read', process.env.VALUE ?? 'none', ...modules.map(({ value }) => value));
console.log(process.env.NODE_ENV);
setInterval(() => {}, 60_000);
`;

/** Starts `dev.ts` in a new folder. */
async function develop() {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'create ü dev-'));
  const file = (name: string) => path.join(folder, name);
  fs.mkdirSync(file('src/one'), { recursive: true });
  fs.writeFileSync(file('src/main.ts'), MAIN);
  fs.writeFileSync(file('src/one/value.ts'), 'export const value = 0;\n');
  const args = ['src', '.env', '--', 'src/main.ts'];
  const child = spawn(process.execPath, [DEV, ...args], { cwd: folder });
  const exit = once(child, 'exit');
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  onTestFinished(async () => {
    child.kill();
    await exit;
    fs.rmSync(folder, { recursive: true });
  });
  const untilPrinted = (line: string) =>
    expect.poll(() => output.split('\n'), { timeout: 60_000 }).toContain(line);
  await untilPrinted('read none 0');
  return { file, child, exit, untilPrinted, output: () => output };
}

test('npm run dev runs the program for development, and prints nothing else', async () => {
  const { untilPrinted, output } = await develop();

  await untilPrinted('development');

  expect(output()).toBe('read none 0\ndevelopment\n');
});

/** How editors and other programs save a file. */
const WAYS: Readonly<Record<string, (file: string, text: string) => void>> = {
  'in place': (file, text) => fs.writeFileSync(file, text),
  'by renaming a new file': (file, text) => {
    fs.writeFileSync(`${file}.new`, text);
    fs.renameSync(`${file}.new`, file);
  },
  'after renaming the old file': (file, text) => {
    fs.renameSync(file, `${file}~`);
    fs.writeFileSync(file, text);
  },
  'after removing the old file': (file, text) => {
    fs.rmSync(file);
    fs.writeFileSync(file, text);
  },
  'with sed -i': (file, text) => void execFileSync('sed', ['-i.bak', `s/.*/${text.trim()}/`, file]),
};

test.each(Object.entries(WAYS))(
  'npm run dev restarts the program after each change that is saved %s',
  async (_, save) => {
    const { file, untilPrinted } = await develop();

    for (const value of [1, 2, 3]) {
      save(file('src/one/value.ts'), `export const value = ${value};\n`);
      await untilPrinted(`read none ${value}`);
    }
  },
);

test('npm run dev restarts the program when .env is created, replaced and removed', async () => {
  const { file, untilPrinted } = await develop();

  fs.writeFileSync(file('.env'), 'VALUE=first');
  await untilPrinted('read first 0');
  for (const value of ['second', 'third']) {
    fs.writeFileSync(file('.env.new'), `VALUE=${value}`);
    fs.renameSync(file('.env.new'), file('.env'));
    await untilPrinted(`read ${value} 0`);
  }
  fs.rmSync(file('.env'));
  fs.writeFileSync(file('src/one/value.ts'), 'export const value = 1;');
  await untilPrinted('read none 1');
});

test('npm run dev restarts the program after changes in a new folder, also if a removed one had its name', async () => {
  const { file, untilPrinted } = await develop();

  for (const value of [1, 2, 3]) {
    fs.mkdirSync(file('src/two'));
    fs.writeFileSync(file('src/two/value.ts'), `export const value = ${value};`);
    await untilPrinted(`read none 0 ${value}`);
    fs.writeFileSync(file('src/two/value.ts'), `export const value = ${value}0;`);
    await untilPrinted(`read none 0 ${value}0`);
    fs.rmSync(file('src/two'), { recursive: true });
  }
});

test('npm run dev starts a program that has failed again after a change', async () => {
  const { file, untilPrinted } = await develop();

  fs.writeFileSync(file('src/one/value.ts'), 'export const value = ;');
  await untilPrinted('Ended with 1: waiting for a change');
  fs.writeFileSync(file('src/one/value.ts'), 'export const value = 1;');

  await untilPrinted('read none 1');
});

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends the program, then npm run dev with exit code 0',
  async (signal) => {
    const { file, child, exit, untilPrinted } = await develop();
    fs.writeFileSync(
      file('src/one/value.ts'),
      `process.on('${signal}', () => { console.log('closed'); process.exit(); });
       export const value = 1;`,
    );
    await untilPrinted('read none 1');

    child.kill(signal);

    expect(await exit).toEqual([0, null]);
    await untilPrinted('closed');
  },
);
