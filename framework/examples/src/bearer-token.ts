import { json } from '@fw/body-parser';
import { type BearerTokenOptions, bearerToken } from '@fw/middleware/bearer-token';
import { validate } from '@fw/validation';
import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';
import * as z from 'zod';

/** For tokens of an identity provider, set `jwksUrl` instead of `secret`. */
const tokens: BearerTokenOptions = {
  secret: process.env.JWT_SECRET ?? '',
  issuer: 'https://issuer.example',
  audience: 'notes',
};
const mayRead = bearerToken({ ...tokens, scopes: ['notes:read'] });
const mayWrite = bearerToken({ ...tokens, scopes: ['notes:write'] });

const Note = z.object({ text: z.string().max(1_000) });
const notes: { readonly by: string; readonly text: string }[] = [];

const router = createRouter();
router.get('/notes', mayRead, (ctx) => ({
  notes: notes.filter(({ by }) => by === ctx.state.user.id),
}));
router.post('/notes', mayWrite, json(), validate({ body: Note }), (ctx) => {
  const note = { by: ctx.state.user.id, text: ctx.body.text };
  notes.push(note);
  ctx.status = 201;
  return note;
});

const app = createApp();
app.use(errorHandler());
app.route('/', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
