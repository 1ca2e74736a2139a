import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { type Example, jsonRequest, startExample } from './testing.ts';

let example: Example;
beforeAll(async () => {
  example = await startExample('openapi');
});
afterAll(() => example.stop());

type Operation = Readonly<Record<string, unknown>>;

interface OpenApiDocument {
  readonly openapi: string;
  readonly info: object;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

async function readDocument(): Promise<OpenApiDocument> {
  const response = await fetch(`${example.origin}/openapi.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch('application/json');
  return (await response.json()) as OpenApiDocument;
}

test('the document is OpenAPI 3.1 with the title and version of the program', async () => {
  const document = await readDocument();

  expect(document.openapi).toMatch(/^3\.1\./);
  expect(document.info).toMatchObject({ title: 'Books', version: '2.1.0' });
});

test('the document contains the routes except internal and excluded ones', async () => {
  const { paths } = await readDocument();

  expect(Object.keys(paths).sort()).toEqual([
    '/api/books',
    '/api/books/old',
    '/api/books/untyped/{shelf}',
    '/api/books/{id}',
  ]);
  expect((await fetch(`${example.origin}/api/books/internal`)).status).toBe(200);
  expect((await fetch(`${example.origin}/api/books/admin/stats`)).status).toBe(200);
});

test('schemas become parameters, request bodies and responses', async () => {
  const { paths } = await readDocument();
  const collection = paths['/api/books'];

  expect(collection?.get).toMatchObject({
    summary: 'List books',
    tags: ['books'],
    parameters: [{ name: 'from', in: 'query', schema: { type: 'integer', default: 0 } }],
    responses: { 200: {}, 400: {} },
  });
  expect(collection?.post).toMatchObject({
    requestBody: { content: { 'application/json': { schema: {} } } },
    responses: { 201: {}, 400: {} },
  });
  expect(paths['/api/books/{id}']?.get).toMatchObject({
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }],
    responses: { 200: {}, 404: {} },
  });
  expect(paths['/api/books/old']?.get).toMatchObject({ deprecated: true });
  expect(paths['/api/books/untyped/{shelf}']?.get).toMatchObject({
    parameters: [{ name: 'shelf', in: 'path', required: true }],
  });
});

test('the page is HTML at /docs and requires no token', async () => {
  const response = await fetch(`${example.origin}/docs`);

  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toMatch('text/html');
  expect(await response.text()).toMatch(/^<!doctype html>/i);
});

test('a request that does not match its schema gets 400 with the pointer', async () => {
  const body = { title: 'Untitled', year: 'soon' };

  const response = await fetch(`${example.origin}/api/books`, jsonRequest('POST', body));

  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    code: 'VALIDATION_FAILED',
    errors: [{ in: 'body', pointer: '/year' }],
  });
});

const MODULES = join(import.meta.dirname, '../node_modules');

/** Runs `command`, a module of this package; returns its output and success. */
function run(command: string, args: readonly string[]) {
  return new Promise<{ readonly isDone: boolean; readonly output: string }>((resolve) => {
    execFile(process.execPath, [join(MODULES, command), ...args], (error, stdout, stderr) => {
      resolve({ isDone: error === null, output: stdout + stderr });
    });
  });
}

const CLIENT = `
import type { paths } from './schema.ts';

type Books = paths['/api/books'];
type List = Books['get']['responses'][200]['content']['application/json'];
type NewBook = Books['post']['requestBody']['content']['application/json'];
type Book = paths['/api/books/{id}']['get']['responses'][200]['content']['application/json'];
type Id = paths['/api/books/{id}']['get']['parameters']['path']['id'];

export async function addAndRead(origin: string): Promise<{ book: Book; years: number[] }> {
  const input: NewBook = { title: 'The Art of Computer Programming', year: 1968 };
  const body = JSON.stringify(input);
  const headers = { 'Content-Type': 'application/json' };
  const added: Book = await (await fetch(origin + '/api/books', { method: 'POST', headers, body })).json();
  const id: Id = added.id;
  const book: Book = await (await fetch(origin + '/api/books/' + id)).json();
  const list: List = await (await fetch(origin + '/api/books?from=1900')).json();
  return { book, years: list.data.map(({ year }) => year) };
}
`;

test('a client typed with the document compiles and reads the responses', {
  timeout: 60_000,
}, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'openapi-client-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const inFolder = (name: string) => join(folder, name);
  const check = (file: string) =>
    run('typescript/bin/tsc', [
      ...['--noEmit', '--strict', '--module', 'esnext', '--target', 'esnext'],
      ...['--moduleResolution', 'bundler', '--allowImportingTsExtensions'],
      inFolder(file),
    ]);
  writeFileSync(inFolder('package.json'), '{"type":"module"}');
  writeFileSync(inFolder('client.ts'), CLIENT);
  writeFileSync(inFolder('wrong.ts'), CLIENT.replace('year: 1968', "year: 'soon'"));

  const document = `${example.origin}/openapi.json`;
  const generated = await run('openapi-typescript/bin/cli.js', [
    document,
    '-o',
    inFolder('schema.ts'),
  ]);
  expect(generated).toMatchObject({ isDone: true });
  const right = await check('client.ts');
  const wrong = await check('wrong.ts');

  expect(right).toEqual({ isDone: true, output: '' });
  expect(wrong.isDone).toBe(false);
  expect(wrong.output).toMatch("Type 'string' is not assignable to type 'number'");

  const client = await import(/* @vite-ignore */ pathToFileURL(inFolder('client.ts')).href);
  expect(await client.addAndRead(example.origin)).toEqual({
    book: { id: 2, title: 'The Art of Computer Programming', year: 1968 },
    years: [1968],
  });
});
