import { json } from '@fw/body-parser';
import { mcp } from '@fw/openapi/mcp';
import { validate } from '@fw/validation';
import {
  createApp,
  createRouter,
  endpoint,
  errorHandler,
  listen,
  NotFoundError,
  notFoundHandler,
} from 'fw';
import { z } from 'zod';

const Note = z.object({ id: z.int(), text: z.string() });
const NewNote = z.object({ text: z.string().min(1).max(500) });
const NoteId = z.object({ id: z.coerce.number().int() });

const notes: z.infer<typeof Note>[] = [{ id: 1, text: 'Water the plants' }];

const router = createRouter();
router.get(
  '/:id',
  endpoint({ operationId: 'getNote', summary: 'Read a note', responses: { 200: Note } }),
  validate({ params: NoteId }),
  (ctx) => {
    const note = notes.find(({ id }) => id === ctx.params.id);
    if (!note) throw new NotFoundError(`Note "${ctx.params.id}" not found`);
    return note;
  },
);
router.post(
  '/',
  endpoint({ operationId: 'addNote', summary: 'Add a note', responses: { 201: Note } }),
  validate(NewNote),
  (ctx) => {
    const note = { id: notes.length + 1, ...ctx.body };
    notes.push(note);
    ctx.status = 201;
    return note;
  },
);

const app = createApp();
app.use(errorHandler());
app.use(mcp({ router, info: { title: 'Notes' }, tools: ['addNote'] }));
app.use(json());
app.route('/api/notes', router);
app.use(router.allowedMethods(), notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
