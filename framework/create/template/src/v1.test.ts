import { quiet, request } from '@fw/core/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';

import { createTasksApp } from './app.ts';
import { TaskPage } from './schemas.ts';
import { openPostgresTaskStore } from './store/postgres.ts';
import { openSqliteTaskStore } from './store/sqlite.ts';

const TEN = '2026-11-21T10:00:00.000Z';
const REPORT = { id: 't1', title: 'Write the report', done: false, createdAt: TEN };

// Undefined if PostgreSQL is not installed: its tests are skipped.
const postgres = await startPostgres().catch(() => undefined);
afterAll(() => postgres?.stop());

const STORES = ['SQLite', ...(postgres ? ['PostgreSQL'] : [])];

async function openStore(name: string) {
  const url = await postgres?.createDatabase();
  return name === 'PostgreSQL' && url
    ? openPostgresTaskStore({ url })
    : openSqliteTaskStore(':memory:');
}

describe.each(STORES)('on %s', (name) => {
  /** Creates the API on an empty store; the ids of its tasks are t1, t2 and so on. */
  async function createApi() {
    const store = await openStore(name);
    onTestFinished(() => store.close());
    let ids = 0;
    const newId = () => `t${++ids}`;
    const app = createTasksApp({ store, newId, now: () => new Date(TEN), logger: quiet });
    return (method: string, path: string, body?: unknown) =>
      request(app, `/api/v1/tasks${path}`, {
        method,
        ...(body !== undefined && {
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        }),
      });
  }

  test('POST creates a task, which GET returns', async () => {
    const send = await createApi();

    const created = await send('POST', '', { title: REPORT.title });
    const read = await send('GET', '/t1');

    expect(created.status).toBe(201);
    expect(await created.json()).toEqual({ data: REPORT });
    expect(await read.json()).toEqual({ data: REPORT });
  });

  test.each([
    ['a missing title', {}],
    ['an empty title', { title: '' }],
    ['a title of 201 characters', { title: 'x'.repeat(201) }],
    ['an unknown field', { title: 'x', owner: 'Ada' }],
  ])('POST with %s gets 400 and creates nothing', async (_, body) => {
    const send = await createApi();

    const response = await send('POST', '', body);

    expect(response.status).toBe(400);
    expect(await (await send('GET', '')).json()).toMatchObject({ data: [] });
  });

  test('the list returns pages, oldest task first', async () => {
    const send = await createApi();
    for (const title of ['one', 'two', 'three']) await send('POST', '', { title });

    const first = TaskPage.parse(await (await send('GET', '?limit=2')).json());
    const second = await (await send('GET', `?limit=2&cursor=${first.meta.nextCursor}`)).json();

    expect(first.data).toMatchObject([{ title: 'one' }, { title: 'two' }]);
    expect(second).toEqual({
      data: [{ ...REPORT, id: 't3', title: 'three' }],
      meta: { limit: 2 },
    });
  });

  test('PATCH changes only the fields that the body contains', async () => {
    const send = await createApi();
    await send('POST', '', { title: REPORT.title });

    const response = await send('PATCH', '/t1', { done: true });

    expect(await response.json()).toEqual({ data: { ...REPORT, done: true } });
  });

  test('DELETE removes the task', async () => {
    const send = await createApi();
    await send('POST', '', { title: REPORT.title });

    const response = await send('DELETE', '/t1');

    expect(response.status).toBe(204);
    expect((await send('GET', '/t1')).status).toBe(404);
  });

  test.each([
    ['GET', undefined],
    ['PATCH', { done: true }],
    ['DELETE', undefined],
  ])('%s of an unknown task gets 404 with its id', async (method, body) => {
    const send = await createApi();

    const response = await send(method, '/t7', body);

    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ detail: 'Task "t7" not found' });
  });
});
