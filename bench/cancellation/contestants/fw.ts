import { Readable } from 'node:stream';
import { sse } from '@fw/middleware/sse';
import { type WebSocketClient, websocket } from '@fw/middleware/websocket';
import { openPostgres } from '@fw/service/postgres';
import { createApp, errorHandler, listen } from 'fw';

import { type Contestant, SLOW_QUERY } from '../work.ts';

const logger = { info() {}, warn() {}, error() {} };

/** `ctx.signal`, and the signal of `sse()`; `query()` of @fw/service/postgres takes a signal. */
export const contestant: Contestant = {
  packages: [],
  async start({ body, waiting, handle, chunks, events, repeat, postgresUrl }) {
    const database = openPostgres({ url: postgresUrl, name: 'bench', migrations: ['SELECT 1'] });
    const statement = { name: 'slow', text: SLOW_QUERY };
    const stops = new Map<WebSocketClient, () => void>();
    const app = createApp({ logger }).use(errorHandler());
    app.post('/body', async (ctx) => {
      await body(ctx.stream({ limit: 10_000 }));
    });
    app.get('/query', async ({ signal }) => {
      await handle(() => database.query(statement, [], { signal }));
    });
    app.get('/call', async (ctx) => ctx.send(await waiting.call(ctx.signal)));
    app.get('/stream', (ctx) => ctx.send(Readable.from(chunks())));
    app.get(
      '/events',
      sse(async function* (_ctx, { signal }) {
        for await (const data of events(signal)) yield { data };
      }),
    );
    app.get(
      '/websocket',
      websocket({
        open: (client) =>
          void stops.set(
            client,
            repeat(() => client.send('first')),
          ),
        close: (client) => {
          stops.get(client)?.();
          stops.delete(client);
        },
      }),
    );
    return (await listen(app, 0)).port;
  },
};
