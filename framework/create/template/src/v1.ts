import { json } from '@fw/body-parser';
import { createCursor } from '@fw/service';
import { validate } from '@fw/validation';
import { createRouter, endpoint, NotFoundError } from 'fw';

import { ListQuery, NewTask, OneTask, TaskChanges, TaskPage } from './schemas.ts';
import type { TaskStore } from './store.ts';
import { createTask, type Origins, type Task } from './task.ts';

const cursors = createCursor('tasks', 'integer');

/** Creates the routes of version 1. */
export function createTaskRoutes(store: TaskStore, origins: Origins) {
  const router = createRouter();
  router.use(json());

  router.get(
    '/',
    endpoint({ summary: 'List tasks', responses: { 200: TaskPage } }),
    validate({ query: ListQuery }),
    async (ctx) => {
      const { limit, cursor } = ctx.query;
      const [after] = cursor === undefined ? [0] : cursors.decode(cursor);
      const { tasks, next } = await store.list({ after, limit });
      const nextCursor = next === undefined ? {} : { nextCursor: cursors.encode(next) };
      return { data: tasks.map(toJson), meta: { limit, ...nextCursor } };
    },
  );

  router.get(
    '/:id',
    endpoint({ summary: 'Read a task', responses: { 200: OneTask } }),
    async (ctx) => {
      const { id } = ctx.params;
      return { data: toJson((await store.find(id)) ?? missing(id)) };
    },
  );

  router.post(
    '/',
    endpoint({ summary: 'Create a task', responses: { 201: OneTask } }),
    validate({ body: NewTask }),
    async (ctx) => {
      const task = createTask(ctx.body.title, origins);
      await store.insert(task);
      ctx.log.info('Created a task', { task: task.id });
      ctx.status = 201;
      return { data: toJson(task) };
    },
  );

  router.patch(
    '/:id',
    endpoint({ summary: 'Change a task', responses: { 200: OneTask } }),
    validate({ body: TaskChanges }),
    async (ctx) => {
      const { id } = ctx.params;
      return { data: toJson((await store.update(id, ctx.body)) ?? missing(id)) };
    },
  );

  router.delete(
    '/:id',
    endpoint({ summary: 'Delete a task', responses: { 204: {} } }),
    async (ctx) => {
      const { id } = ctx.params;
      if (!(await store.delete(id))) missing(id);
      ctx.status = 204;
      ctx.send('');
    },
  );

  return router;
}

function missing(id: string): never {
  throw new NotFoundError(`Task "${id}" not found`);
}

function toJson({ createdAt, ...task }: Task) {
  return { ...task, createdAt: createdAt.toISOString() };
}
