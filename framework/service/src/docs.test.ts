// The pages in `docs` contain the only copy of their programs: each test runs the first program of a page as it is
// written there, and checks what the page promises about it.

import { createHmac } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';

import { expect, onTestFinished, test } from 'vitest';

import { type Json, launchService, readJson, readProblem, runToEnd } from './testing/testing.ts';
import { newFolder, startTestService } from './testing/vitest.ts';

const root = resolve(import.meta.dirname, '../../..');

function readPage(page: string): string {
  return readFileSync(resolve(import.meta.dirname, '../docs', page), 'utf8');
}

/** Writes the program of a page, or a changed one, to a file that is removed at the end of the test. */
function programOf(page: string, change = (program: string) => program): URL {
  const [, program] = /^```ts\n(.*?)^```$/ms.exec(readPage(page)) ?? [];
  if (program === undefined) throw new Error(`${page} has no program`);
  mkdirSync(join(root, '.local'), { recursive: true });
  const folder = mkdtempSync(join(root, '.local/page-')); // below node_modules
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'src')); // its bundle is written to `dist`
  const file = join(folder, 'src/main.ts');
  writeFileSync(file, change(program));
  return pathToFileURL(file);
}

function messagesOf(stdout: string): string[] {
  const lines = stdout.trimEnd().split('\n');
  return lines.map((line) => JSON.parse(line).message);
}

test('lists.md: a client follows the cursor to the last page, and other cursors get 400', async () => {
  const { url } = await startTestService(programOf('lists.md'));
  const get = (query: string) => fetch(`${url}/books?${query}`);

  const first = await readJson(await get('limit=2'));
  const { nextCursor } = first.meta;
  const second = await readJson(await get(`limit=2&cursor=${nextCursor}`));
  const last = await readJson(await get(`limit=9&cursor=${second.meta.nextCursor}`));

  expect(readPage('lists.md')).toContain(`\n${JSON.stringify(first)}\n`);
  expect(second.data.map(({ title }: Json) => title)).toEqual(['Middlemarch', 'Orlando']);
  expect(last).toEqual({ data: [{ id: 3, title: 'Persuasion' }], meta: { limit: 9 } });
  for (const query of ['cursor=', 'limit=', 'limit=101', 'titel=Emma']) {
    const { errors } = await readProblem(await get(query), 400, 'VALIDATION_FAILED');
    expect(errors).toMatchObject([{ in: 'query', pointer: `/${query.split('=')[0]}` }]);
  }
  for (const query of [`author=Austen&cursor=${nextCursor}`, `cursor=${nextCursor}x`]) {
    const { detail } = await readProblem(await get(query), 400, 'BAD_REQUEST');
    expect(detail).toBe('cursor must be one that this list returned');
  }
});

test('lists.md: a list by number has any page, and is empty after the last one', async () => {
  const { url } = await startTestService(programOf('lists.md'));
  const get = (query: string) => fetch(`${url}/authors?${query}`);

  const all = await readJson(await get(''));
  const second = await readJson(await get('page=2&limit=3'));
  const late = await readJson(await get('page=9&limit='));

  expect(all).toEqual({ page: 1, authors: ['Austen', 'Eliot', 'Kauffman', 'Woolf'] });
  expect(second).toEqual({ page: 2, authors: ['Woolf'] });
  expect(late).toEqual({ page: 9, authors: [] });
  for (const [query, detail] of [
    ['page=0', 'page must be a positive integer'],
    ['limit=101', 'limit must be between 1 and 100'],
  ] as const) {
    expect(await readProblem(await get(query), 400, 'BAD_REQUEST')).toMatchObject({ detail });
  }
});

test('documents.md: one document has both versions, at the paths of the page', async () => {
  const { url } = await startTestService(programOf('documents.md'));

  const response = await fetch(`${url}/openapi.json`);
  const document = await readJson(response);
  const behindProxy = await readJson(await fetch(`${url}/docs/greetings/openapi.json`));
  const headers = { 'If-None-Match': response.headers.get('etag') ?? '' };
  const unchanged = await fetch(`${url}/openapi.json`, { headers });
  const pages = await Promise.all([fetch(`${url}/docs`), fetch(`${url}/docs/greetings`)]);

  expect(document).toMatchObject({
    openapi: expect.stringMatching(/^3\.1/),
    info: { title: 'Greetings', version: '1.4.0', license: { name: 'MIT' } },
    paths: {
      '/api/v1/greetings': { get: { deprecated: true } },
      '/api/v2/greetings': { get: { summary: 'List greetings' } },
    },
  });
  expect(document.paths['/api/v2/greetings'].get).not.toHaveProperty('deprecated');
  expect(response.headers.get('cache-control')).toBe('no-cache');
  expect(behindProxy).toEqual(document);
  expect(unchanged.status).toBe(304);
  for (const page of pages) expect(page.headers.get('content-type')).toContain('text/html');
});

test('variables.md: config prints the variables, and one line names everything that is wrong', async () => {
  const main = programOf('variables.md');
  const key = { LINK_KEY: 'sixteen-characters' };

  const config = await runToEnd(main, {}, ['config']);
  const invalid = await runToEnd(main, { LINK_SECOND: '60', LINK_HASH: 'md5' });
  const contradicting = await runToEnd(main, { ...key, CACHE_SECONDS: '300' });
  const short = await runToEnd(main, { LINK_KEY: 'hushed' });

  const own = config.stdout.indexOf('LINK_HASH');
  // The longest name of all variables determines the width of the columns.
  const narrow = (text: string) => text.replace(/ +/g, ' ');
  expect(narrow(readPage('variables.md'))).toContain(narrow(config.stdout.slice(own)));
  expect(invalid).toMatchObject({ code: 1, stdout: '' });
  expect(readPage('variables.md')).toContain(`\n${invalid.stderr}`);
  expect(contradicting).toMatchObject({
    code: 1,
    stderr: 'Cannot run links: CACHE_SECONDS must be less than LINK_SECONDS, got 300\n',
  });
  expect(short.stderr).toBe('Cannot run links: LINK_KEY must have at least 16 characters\n');
});

test('variables.md: a changed file of a secret applies without a restart', async () => {
  const file = join(newFolder(), 'key');
  const isSignedWith = async (key: string) => {
    const { url: link } = await readJson(await fetch(`${url}/links/a%20b`));
    const [, path, signature] = /^(.*)&signature=(.*)$/.exec(link) ?? [];
    return createHmac('sha256', key).update(path!).digest('base64url') === signature;
  };
  writeFileSync(file, 'the-first-key-of-all\n');
  const { url } = await startTestService(programOf('variables.md'), { LINK_KEY_FILE: file });

  expect(await isSignedWith('the-first-key-of-all')).toBe(true);
  writeFileSync(file, 'the-second-key-of-all\n');
  await expect.poll(() => isSignedWith('the-second-key-of-all')).toBe(true);
});

test('commands.md: a command has the exit codes of the page, and a signal ends it between two batches', async () => {
  const main = programOf('commands.md');
  const DATABASE_FILE = join(newFolder(), 'sessions.db');
  const run = (...args: string[]) => runToEnd(main, { DATABASE_FILE }, args);

  const empty = await run('prune', '30');
  const database = new DatabaseSync(DATABASE_FILE);
  database.exec(`INSERT INTO sessions (used_day)
    SELECT 1 FROM json_each('[${Array(2_500).fill(0)}]')`);
  const invalid = await run('prune', '3x');
  const unknown = await run('prnue');
  const help = await run('--help');
  const command = await launchService(main, { DATABASE_FILE }, ['prune', '30', '--pause=60000']);
  await expect.poll(() => command.output()).toContain('"total":1000');
  command.signal('SIGTERM');
  const interrupted = await command.ended;
  const completed = await run('prune', '30');

  expect(empty.code).toBe(0);
  expect(invalid).toMatchObject({ code: 2, stdout: '' });
  expect(unknown).toMatchObject({ code: 2, stdout: '' });
  for (const { stderr } of [invalid, unknown]) {
    expect(readPage('commands.md')).toContain(`\n${stderr}`);
  }
  expect(help.stdout).toMatch(/^ {2}prune DAYS \[--pause MS\] +deletes the sessions/m);
  expect(interrupted.code).toBe(130);
  expect(messagesOf(interrupted.stdout).at(-1)).toMatch(/^Interrupted/);
  expect(completed.code).toBe(0);
  expect(completed.stdout).toContain('"total":1500');
  database.close();
});

test('migrations.md: migrate applies what is missing, and names what fails or was changed', async () => {
  const folder = newFolder();
  const variables = { DATABASE_FILE: join(folder, 'notes.db') };
  const migrate = (main: URL) => runToEnd(main, variables, ['migrate']);
  const current = programOf('migrations.md');
  const first = programOf('migrations.md', (text) =>
    text.replace(/^.*of the second release$/m, ''),
  );
  const changed = programOf('migrations.md', (text) =>
    text.replace('text TEXT NOT NULL', 'text TEXT'),
  );
  const failing = programOf('migrations.md', (text) =>
    text.replace(/(?<=of the second release\n)/, "'ALTER TABLE note ADD COLUMN tag TEXT',"),
  );

  const applied = [await migrate(first), await migrate(current), await migrate(current)];
  const failures = [await migrate(failing), await migrate(changed)];
  const unstarted = await runToEnd(changed, { ...variables, PORT: '0', HEALTH_PORT: '0' });
  const { url } = await startTestService(first, variables);

  expect(applied.flatMap(({ stdout }) => messagesOf(stdout))).toEqual([
    'Applied migration 1',
    'Applied migration 2',
    'Nothing to do: all migrations are applied',
  ]);
  for (const { code, stderr } of failures) {
    const line = stderr.replace(`${folder}/`, '').replace(/, at .*\n/, ', at '); // without the place
    expect(code).toBe(1);
    expect(readPage('migrations.md')).toContain(`\n${line}`);
  }
  expect(unstarted).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('migration 1 is not'),
  });
  expect(await readJson(await fetch(`${url}/notes`))).toEqual({ data: [] }); // an older program works
});

test('migrations.md: migrate --wait retries until the file is no longer locked', async () => {
  const folder = newFolder();
  const file = join(folder, 'notes.db');
  const database = new DatabaseSync(file);
  database.exec('BEGIN EXCLUSIVE');
  const variables = { DATABASE_FILE: file, DATABASE_TIMEOUT_MS: '50' };

  const command = await launchService(programOf('migrations.md'), variables, [
    'migrate',
    '--wait',
    '600',
  ]);
  await expect.poll(() => command.output()).toContain('Waiting for the store');
  database.close();
  const { code, stdout } = await command.ended;

  const [reason = '', ...applied] = messagesOf(stdout);
  expect(code).toBe(0);
  expect(readPage('migrations.md')).toContain(`\n${reason.replace(`${folder}/`, '')}\n`);
  expect(applied).toEqual(['Applied migration 1', 'Applied migration 2']);
});

test('stores.md: an acknowledged write is still there after kill -9', async () => {
  const main = programOf('stores.md');
  const variables = { DATABASE_FILE: join(newFolder(), 'notes.db') };

  const first = await startTestService(main, variables);
  const created = await fetch(`${first.url}/notes`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ text: 'buy bread' }),
  });
  first.signal('SIGKILL');
  await first.ended;
  const second = await startTestService(main, variables);

  expect(created.status).toBe(201);
  const { data } = await readJson(await fetch(`${second.url}/notes`));
  expect(data).toEqual([{ id: 1, text: 'buy bread' }]);
  expect((await fetch(`${second.healthUrl}/readyz`)).status).toBe(200);
});

test('metrics.md: /metrics has the metric of the service', async () => {
  const { url, healthUrl } = await startTestService(programOf('metrics.md'));

  const { status } = await fetch(`${url}/orders`, { method: 'POST' });
  const metrics = await fetch(`${healthUrl}/metrics`);

  expect(status).toBe(204);
  expect(await metrics.text()).toContain('\nshop_orders_total{payment="invoice"} 1\n');
});
