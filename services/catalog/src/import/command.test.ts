import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

import { runToEnd } from '@fw/service/testing';
import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { generateRows, toNdjsonLine } from '../generate-items.ts';
import { openSqliteCatalogStore } from '../store/sqlite.ts';
import { itemOf, toLines } from '../testing.ts';

const MAIN = new URL('../main.ts', import.meta.url);

/** A folder with a database and files, and the command `import`. */
function newImport() {
  const folder = newFolder();
  const DATABASE_FILE = join(folder, 'catalog.db');
  return {
    file: (name: string) => join(folder, name),
    write(name: string, content: string | Buffer) {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    },
    importFile: (...args: readonly string[]) =>
      runToEnd(MAIN, { DATABASE_FILE }, ['import', ...args]),
    DATABASE_FILE,
    async total() {
      const store = openSqliteCatalogStore(DATABASE_FILE, { timeoutMs: 1_000 });
      const { total } = await store.list({ start: 0, limit: 1 });
      await store.close();
      return total;
    },
  };
}

test('import replaces the catalog, prints the number of items and the speed, and exits with 0', async () => {
  const { write, importFile, total } = newImport();
  const lines = [...generateRows(300)].map(toNdjsonLine);

  const first = await importFile(write('items.ndjson', lines.join('')));
  const compressed = gzipSync(lines.slice(0, 200).join(''));
  const second = await importFile(write('items.any', compressed));

  expect(first).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      /^Imported 300 items in \d+ s \([\d,]+ per second\); 0 lines rejected\n$/,
    ),
    stderr: expect.stringMatching(/^Reading {2}300 rows .*\nIndexing .*100 %\n$/s),
  });
  expect(second).toMatchObject({ code: 0, stdout: expect.stringContaining('Imported 200 items') });
  expect(await total()).toBe(200);
});

test('a report that would overwrite the imported file is rejected', async () => {
  const { write, importFile } = newImport();
  const items = write('items.ndjson', toLines([itemOf(1)]));

  const ending = await importFile(items, '--report', items);

  expect(ending).toMatchObject({
    code: 1,
    stderr: `Cannot import "${items}": the report would overwrite it; name another file after --report\n`,
  });
  expect(readFileSync(items, 'utf8')).toBe(toLines([itemOf(1)]));
});

test('the first 20 rejected lines are printed, all of them are in the report file', async () => {
  const { write, file, importFile, total } = newImport();
  const lines = Array.from({ length: 30 }, () => 'nothing\n').join('');

  const ending = await importFile(
    write('items.ndjson', `${toLines([itemOf(1)])}${lines}`),
    ...['--report', file('report'), '--max-rejected', '100%'],
  );

  expect(ending.code).toBe(0);
  expect(ending.stdout).toContain('Imported 1 item ');
  expect(ending.stdout).toContain('30 lines rejected');
  expect(ending.stderr).toContain('line 2: expected a JSON object\n');
  expect(ending.stderr).toContain('line 21: expected a JSON object\nand 10 more lines\n');
  expect(ending.stderr).not.toContain('line 22:');
  const report = readFileSync(file('report'), 'utf8').split('\n');
  expect(report).toHaveLength(31);
  expect(report.at(-2)).toBe('line 31: expected a JSON object');
  expect(await total()).toBe(1);
});

test.for([
  [18, 'by default', 1, [], '2 of 20 lines rejected (10%), at most 5% may be (--max-rejected)'],
  [38, 'by default', 0, [], '2 lines rejected'],
  [18, 'with --max-rejected 9.9%', 1, ['--max-rejected', '9.9%'], '(10%), at most 9.9% may be'],
  [18, 'with --max-rejected=10%', 0, ['--max-rejected=10%'], '2 lines rejected'],
  [198, 'with --max-rejected 0%', 1, ['--max-rejected', '0%'], '(1%), at most 0% may be'],
  [199, 'with --strict', 1, ['--strict'], '2 of 201 lines rejected (0.995%), at most 0% may be'],
] as const)(
  'a file of %d items and 2 rejected lines, imported %s, ends with exit code %d',
  async ([items, _, code, options, summary]) => {
    const { write, importFile, total } = newImport();
    await importFile(write('good', toLines([itemOf(1)])));
    const lines = Array.from({ length: items }, (_, index) => itemOf(index + 1));

    const ending = await importFile(...options, write('bad', `{}\n${toLines(lines)}nothing\n`));

    expect(ending).toMatchObject({ code, stdout: expect.stringContaining(summary) });
    expect(ending.stdout.includes('the catalog is unchanged')).toBe(code === 1);
    expect(ending.stderr).toContain('line 1: id must be an integer of at least 1\n');
    expect(await total()).toBe(code === 1 ? 1 : items);
  },
);

test('a file that cannot be read is named in one line, and the exit code is 1', async () => {
  const { file, importFile } = newImport();

  const { code, stderr } = await importFile(file('nowhere'));

  expect(code).toBe(1);
  expect(stderr).toContain(`Cannot import "${file('nowhere')}": ENOENT: no such file or directory`);
});

test('rejected lines are printed although the rest of the file cannot be read', async () => {
  const { file, importFile } = newImport();
  const compressed = gzipSync(`{}\n${toLines([itemOf(1)])}`);
  writeFileSync(file('cut'), compressed.subarray(0, -8));

  const { code, stderr } = await importFile(file('cut'));

  expect(code).toBe(1);
  expect(stderr).toContain('line 1: id must be an integer of at least 1\n');
  expect(stderr).toContain(`Cannot import "${file('cut')}": unexpected end of file`);
});

test.for([
  [[]],
  [['a', 'b']],
  [['--quickly', 'a']],
  [['a', '--max-rejected']],
  ...['', '5', '%', '101%', '-1%', '5 %', '1e1%', 'five'].map((percent) => [
    ['a', `--max-rejected=${percent}`],
  ]),
] as const)('import with the arguments %j prints its usage and exits with 2', async ([args]) => {
  expect(await newImport().importFile(...args)).toMatchObject({
    code: 2,
    stderr: 'Usage: import FILE [--max-rejected PERCENT%] [--strict] [--report FILE]\n',
  });
});

/** Starts an import that waits for more content. */
function startImport(folder: ReturnType<typeof newImport>, kind: 'pipe' | 'stdin') {
  const file = kind === 'stdin' ? '-' : folder.file('pipe');
  if (kind === 'pipe') execFileSync('mkfifo', [file]);
  const child = spawn(process.execPath, [fileURLToPath(MAIN), 'import', file], {
    env: { PATH: process.env.PATH, DATABASE_FILE: folder.DATABASE_FILE },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.on('error', () => {});
  const output = { stdout: '', stderr: '' };
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream].setEncoding('utf8').on('data', (text: string) => {
      output[stream] += text;
    });
  }
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, ...output }));
  /** Resolves when all but the last 64 KiB are in the import or its pipe. */
  async function write(content: Buffer): Promise<void> {
    const stream = kind === 'stdin' ? child.stdin : createWriteStream(file);
    stream.on('error', () => {});
    await new Promise((resolve) => stream.write(content, resolve));
  }
  return { child, ended, write };
}

const FILLER = Buffer.alloc(4 * 1024 ** 2, 'x');
const ONE = Buffer.from(toLines([itemOf(1)]));

test.each([
  ['a pipe without a line break', 'pipe', Buffer.concat([ONE, FILLER])],
  ['standard input without a line break', 'stdin', Buffer.concat([ONE, FILLER])],
  ['gzip without a line break', 'stdin', gzipSync(Buffer.concat([ONE, FILLER]), { level: 0 })],
] as const)('SIGTERM ends an import that waits for more of %s', async (_, kind, content) => {
  const { child, ended, write } = startImport(newImport(), kind);
  await write(content);

  child.kill('SIGTERM');

  expect(await ended).toMatchObject({
    code: 130,
    stdout: expect.stringMatching(/^Interrupted after [\d,]+ items?: the catalog is unchanged\n$/),
  });
});

test('SIGTERM ends an import from a pipe that has no writer', async () => {
  const folder = newImport();
  const { child, ended } = startImport(folder, 'pipe');
  // The file is created after signals are handled.
  await expect.poll(() => existsSync(folder.DATABASE_FILE)).toBe(true);

  child.kill('SIGTERM');

  expect(await ended).toMatchObject({ code: 130 });
});

test('blank lines before the first item use no memory', async () => {
  const { write, DATABASE_FILE } = newImport();
  const file = write('blank', Buffer.concat([Buffer.alloc(16 * 1024 ** 2, '\n'), ONE]));
  const NODE_OPTIONS = '--max-old-space-size=80';

  const ending = await runToEnd(MAIN, { DATABASE_FILE, NODE_OPTIONS }, ['import', file]);

  expect(ending).toMatchObject({ code: 0, stdout: expect.stringContaining('Imported 1 item ') });
});

test('- imports standard input', async () => {
  const folder = newImport();
  const { child, ended } = startImport(folder, 'stdin');

  child.stdin.end(gzipSync(toLines([itemOf(1), itemOf(2)])));

  expect(await ended).toMatchObject({ code: 0 });
  expect(await folder.total()).toBe(2);
});
