import { type WebSocketClient, websocket } from '@fw/middleware/websocket';
import { createApp, createRouter, errorHandler, type Guard, listen, notFoundHandler } from 'fw';
import { z } from 'zod';

/** Requires a name; a real chat would check a session here. */
const requireName: Guard<{ readonly name: string }> = (ctx, next) => {
  const { name } = ctx.query;
  if (typeof name !== 'string' || name === '') ctx.throw(400, 'name is required');
  Object.assign(ctx.state, { name });
  return next();
};

/** The clients of each room. */
const rooms = new Map<string, Set<WebSocketClient>>();

function sendToRoom(id: string, message: object): void {
  const text = JSON.stringify(message);
  for (const client of rooms.get(id) ?? []) client.send(text);
}

const router = createRouter().get(
  '/rooms/:id',
  requireName,
  websocket({
    schema: z.object({ text: z.string().max(500) }),
    open(client) {
      const { id } = client.ctx.params;
      rooms.set(id, (rooms.get(id) ?? new Set()).add(client));
      sendToRoom(id, { joined: client.ctx.state.name });
    },
    message({ ctx }, { text }) {
      sendToRoom(ctx.params.id, { name: ctx.state.name, text });
    },
    close(client) {
      const { id } = client.ctx.params;
      rooms.get(id)?.delete(client);
      if (rooms.get(id)?.size === 0) rooms.delete(id);
      sendToRoom(id, { left: client.ctx.state.name });
    },
  }),
);

const app = createApp().use(errorHandler());
app.route('/', router);
app.use(router.allowedMethods(), notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
