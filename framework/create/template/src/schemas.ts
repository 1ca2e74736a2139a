import { pageOf, pageQuery, plainText } from '@fw/service';
import * as z from 'zod';

import { MAX_TITLE_LENGTH } from './task.ts';

/** The page sizes of the list. */
const PAGE_SIZES = { defaultLimit: 20, maxLimit: 100 };

const title = plainText({ min: 1, max: MAX_TITLE_LENGTH }).meta({ examples: ['Write the report'] });
const done = z.boolean();

/** A task in a response. */
export const Task = z
  .object({ id: z.string(), title, done, createdAt: z.iso.datetime() })
  .meta({ id: 'Task' });

/** A response with one task. */
export const OneTask = z.object({ data: Task });

/** A response with one page of tasks. */
export const TaskPage = pageOf(Task, PAGE_SIZES);

/** The body of POST; unknown fields are rejected. */
export const NewTask = z.strictObject({ title }).meta({ id: 'NewTask' });

/** The body of PATCH; omitted fields keep their value. */
export const TaskChanges = z
  .strictObject({ title: title.exactOptional(), done: done.exactOptional() })
  .meta({ id: 'TaskChanges' });

/** The query of the list; unknown names are rejected. */
export const ListQuery = z.strictObject(pageQuery(PAGE_SIZES));
