import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { type Application, type ListenOptions, listen } from 'fw';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

import { expectDocument } from './expect-document.ts';
import { lintFile } from './lint.ts';
import type { PostgresServer } from './postgres.ts';
import type { Send } from './responses.ts';
import { type ServiceProcess, startService, type Variables } from './testing.ts';

/** Creates a temporary folder, which is removed at the end of the test, or by `atEnd`, such as `afterAll`. */
export function newFolder(
  prefix = 'test-',
  atEnd: (remove: () => void) => void = onTestFinished,
): string {
  const folder = mkdtempSync(join(tmpdir(), prefix));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Serves `app` on a free port until the end of the test. */
export async function serve(app: Application, options: Omit<ListenOptions, 'port'> = {}) {
  const server = await listen(app, { host: '127.0.0.1', ...options, port: 0 });
  onTestFinished(() => server.close());
  return server;
}

/** Starts the service at `main` like `startService`, and kills it at the end of the test. */
export async function startTestService(
  main: URL,
  variables: Variables = {},
): Promise<ServiceProcess> {
  const service = await startService(main, variables);
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  return service;
}

/** Starts a PostgreSQL server for the tests of a file; returns a function that returns it. */
export function startTestPostgres(): () => PostgresServer {
  let server: PostgresServer | undefined;
  beforeAll(async () => {
    const { startPostgres } = await import('./postgres.ts'); // needs the optional package pg
    server = await startPostgres();
  });
  afterAll(() => server?.stop());
  return () => {
    if (!server) throw new Error('Cannot use PostgreSQL before the tests start');
    return server;
  };
}

/**
 * Tests that the documents `<version>.json` in `folder` are those of the application, and that `redocly lint`
 * finds no problem in them.
 */
export function testDocuments(
  folder: string,
  versions: readonly string[],
  createApp: () => Application | Promise<Application>,
): void {
  const fileOf = (version: string) => join(folder, `${version}.json`);

  test.each(versions)('openapi/%s.json is current', async (version) => {
    await expectDocument(await createApp(), { version, file: fileOf(version) });
  });

  test.each(versions)('redocly lint reports nothing in openapi/%s.json', async (version) => {
    expect(await lintFile(fileOf(version))).toEqual([]);
  });
}

/**
 * Tests that no response contains a field that the store returns and the route does not declare. `newSend` sends to
 * an application whose store is that of `plantField`.
 */
export function testUndeclaredFields(
  newSend: () => Promise<Send>,
  requests: [method: string, path: string, body?: object][],
): void {
  test.each<(typeof requests)[number]>(requests)(
    '%s %s never sends an undeclared field',
    async (method, path, body) => {
      const send = await newSend();

      const response = await send(method, path, body);

      expect(response.status).toBeLessThan(300);
      expect(await response.text()).not.toContain('passwordHash');
    },
  );
}
