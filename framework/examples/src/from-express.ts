import { json } from '@fw/body-parser';
import { connect } from '@fw/middleware/connect';
import { validate } from '@fw/validation';
import express, { type NextFunction, type Request, type Response } from 'express';
import { createApp, createRouter, errorHandler, listen, NotFoundError, notFoundHandler } from 'fw';
import { z } from 'zod';

const notes = new Map([['1', 'Buy milk']]);

// 1. The old application runs as it is, without its listen(): its middleware, routes and error handlers.
const old = express();
old.use(express.json());
old.get('/notes', (_req, res) => void res.json([...notes.keys()]));
old.get('/notes/:id', (req, res) => void res.json({ old: true, text: notes.get(req.params.id) }));
old.delete('/notes/:id', (_req, _res) => {
  throw new Error('read-only');
});
old.use((error: Error, _req: Request, res: Response, next: NextFunction) => {
  if (error.message === 'read-only') res.status(403).json({ error: error.message });
  else next(error);
});

// 2. A moved route comes first; the old one is then unreachable, and can be removed.
const router = createRouter();
router.get('/:id', (ctx) => {
  const text = notes.get(ctx.params.id);
  if (text === undefined) throw new NotFoundError(`Note "${ctx.params.id}" not found`);
  return { id: ctx.params.id, text };
});
// A body parser belongs to the moved route: the old application reads the bodies of its own routes.
router.post('/', json(), validate(z.object({ text: z.string().min(1) })), (ctx) => {
  const id = String(notes.size + 1);
  notes.set(id, ctx.body.text);
  ctx.status = 201;
  return { id };
});

const app = createApp();
app.use(errorHandler());
app.route('/notes', router);
app.use(connect(old)); // 3. Without routes of its own, remove it, and add router.allowedMethods()
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
