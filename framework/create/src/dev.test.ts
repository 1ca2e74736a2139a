import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

const TEMPLATE = path.resolve(import.meta.dirname, '../template');

/** Prints the variable of the file `.env`, and the values of all modules in folders of `src`. */
const MAIN = `
import fs from 'node:fs';
const files = fs.globSync('src/*/*.ts').sort();
const modules = await Promise.all(files.map((file) => import('../' + file)));
console.log('read', process.env.VALUE ?? 'none', ...modules.map(({ value }) => value));
console.log(process.env.NODE_ENV);
setInterval(() => {}, 60_000);
`;

/** Starts `dev.ts` in a new folder, with a package of this source. */
async function develop({ source = '', inTerminal = false } = {}) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'create ü dev-'));
  const file = (name: string) => path.join(folder, name);
  fs.mkdirSync(file('src/one'), { recursive: true });
  for (const name of ['dev.ts', 'dev-packages.ts']) {
    fs.copyFileSync(path.join(TEMPLATE, name), file(name));
  }
  fs.writeFileSync(file('src/main.ts'), MAIN);
  fs.writeFileSync(file('src/one/value.ts'), 'export const value = 0;\n');
  fs.mkdirSync(file('node_modules/printing'), { recursive: true });
  fs.writeFileSync(file('package.json'), '{"type":"module","dependencies":{"printing":"1"}}');
  fs.writeFileSync(file('node_modules/printing/index.js'), source);
  const args = ['src', '.env', 'package-lock.json', '--', 'src/main.ts'];
  const direct = [process.execPath, 'dev.ts', ...args];
  const line = direct.map((arg) => `'${arg.replaceAll("'", `'\\''`)}'`).join(' ');
  const terminal = ['script', '--quiet', '--return', '--command', line, '/dev/null'];
  const [command = '', ...rest] = inTerminal ? terminal : direct;
  const child = spawn(command, rest, { cwd: folder, env: { ...process.env, FORCE_COLOR: '0' } });
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
    expect.poll(() => output.split(/\r?\n/), { timeout: 60_000 }).toContain(line);
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

/** The source of a package that prints in which process it is loaded. */
const PRINTING = "console.log('loaded', process.pid);";

/** The source of that package after an update. */
const CHANGED = "process.env.VALUE = 'changed';";

type Change = readonly [change: (file: (name: string) => string) => void, printed: string];

/** Changes after a process has loaded the packages for the next start. */
const CHANGES: Readonly<Record<'kept' | 'discarded', Readonly<Record<string, Change>>>> = {
  kept: {
    'a file of the source': [
      (file) => {
        const source = 'export const value = [process.env.DEV_PROGRAM, process.connected].join();';
        fs.writeFileSync(file('src/one/value.ts'), source);
      },
      'read none ,false',
    ],
  },
  discarded: {
    '.env': [(file) => fs.writeFileSync(file('.env'), 'VALUE=first'), 'read first 0'],
    'a package': [
      (file) => {
        fs.writeFileSync(file('node_modules/printing/index.js'), CHANGED);
        fs.writeFileSync(file('package-lock.json'), '{}');
      },
      'read changed 0',
    ],
    'the source, after npm ci': [
      (file) => {
        fs.writeFileSync(file('node_modules/printing/index.js'), CHANGED);
        fs.writeFileSync(file('node_modules/.package-lock.json'), '{}');
        fs.writeFileSync(file('src/one/value.ts'), 'export const value = 1;');
      },
      'read changed 1',
    ],
  },
};

describe.each(Object.entries(CHANGES))('the prepared process is %s', (fate, changes) => {
  test.each(Object.entries(changes))('after a change of %s', async (_, [change, printed]) => {
    const { file, output, untilPrinted } = await develop({ source: PRINTING });
    const loaded = () => [...output().matchAll(/loaded (\d+)/g)].map(([, pid]) => Number(pid));
    await expect.poll(() => loaded().length, { timeout: 60_000 }).toBe(2);
    const [, prepared = 0] = loaded();

    change(file);

    await untilPrinted(printed);
    expect(isAlive(prepared)).toBe(fate === 'kept');
  });
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

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

test('a signal to npm run dev during a restart leaves no process behind', async () => {
  const { file, child, output } = await develop({ source: PRINTING });
  const closed = once(child, 'close'); // when no process has its output any more
  fs.writeFileSync(
    file('src/one/value.ts'),
    `process.on('SIGTERM', () => setTimeout(process.exit, 500));
     export const value = 1;`,
  );
  const sinceStart = () => output().split('read none 1')[1];
  await expect.poll(sinceStart, { timeout: 60_000 }).toContain('loaded');

  fs.writeFileSync(file('src/one/value.ts'), 'export const value = 2;');
  await expect.poll(sinceStart, { timeout: 60_000 }).toContain('Restarting after a change');
  child.kill();

  await closed;
});

describe('a program that handles no signal, because it is blocked,', () => {
  /** Handles SIGTERM, as services do. */
  const BLOCKED = `process.on('SIGTERM', () => {}); setTimeout(() => { for (;;); }, 100);`;

  test('is killed for a restart', async () => {
    const { file, untilPrinted } = await develop();
    fs.writeFileSync(file('src/one/value.ts'), `${BLOCKED} export const value = 1;`);
    await untilPrinted('read none 1');

    fs.writeFileSync(file('src/one/value.ts'), 'export const value = 2;');

    await untilPrinted('Still running 5 s after the signal: killed');
    await untilPrinted('read none 2');
  });

  test('is killed after a signal to npm run dev', async () => {
    const { file, child, exit, untilPrinted } = await develop();
    fs.writeFileSync(file('src/one/value.ts'), `${BLOCKED} export const value = 1;`);
    await untilPrinted('read none 1');

    child.kill();

    expect(await exit).toEqual([0, null]);
  });
});

test('a change after a signal to npm run dev restarts nothing', async () => {
  const { file, child, exit, untilPrinted, output } = await develop();
  fs.writeFileSync(
    file('src/one/value.ts'),
    `process.on('SIGTERM', () => { console.log('ending'); setTimeout(process.exit, 1_000); });
     export const value = 1;`,
  );
  await untilPrinted('read none 1');
  const restarts = () => output().split('Restarting').length - 1;
  const before = restarts();

  child.kill();
  await untilPrinted('ending');
  fs.writeFileSync(file('src/one/value.ts'), 'export const value = 2;');

  expect(await exit).toEqual([0, null]);
  expect(restarts()).toBe(before);
});

// On other systems, script has other options.
test.runIf(process.platform === 'linux')(
  'Ctrl-C in a terminal is one signal to the program',
  async () => {
    const { file, child, exit, untilPrinted, output } = await develop({ inTerminal: true });
    fs.writeFileSync(
      file('src/one/value.ts'),
      `process.on('SIGINT', () => { console.log('signal'); setTimeout(process.exit, 300); });
     export const value = 1;`,
    );
    await untilPrinted('read none 1');

    child.stdin.write('\x03');

    await exit;
    expect(output().split('signal')).toHaveLength(2);
  },
);
