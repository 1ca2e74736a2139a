import { EventEmitter, once } from 'node:events';

import { sse } from '@fw/middleware/sse';
import { openapi } from '@fw/openapi';
import { createApp, createRouter, endpoint, errorHandler, listen, notFoundHandler } from 'fw';
import { z } from 'zod';

const Import = z.object({ number: z.int(), lines: z.int(), bytes: z.int() }).meta({ id: 'Import' });

const imports: z.infer<typeof Import>[] = [];
const news = new EventEmitter().setMaxListeners(0); // one listener per client

const router = createRouter();
router.post(
  '/',
  endpoint({ summary: 'Import a file', bodyTypes: ['text/csv'], responses: { 201: Import } }),
  async (ctx) => {
    let lines = 0;
    let bytes = 0;
    for await (const chunk of ctx.stream({ limit: 100 * 1024 ** 2 })) {
      lines += chunk.filter((byte) => byte === 0x0a).length;
      bytes += chunk.length;
    }
    const added = { number: imports.length + 1, lines, bytes };
    imports.push(added);
    news.emit('import');
    ctx.status = 201;
    return ctx.json(added);
  },
);
router.get(
  '/events',
  endpoint({ summary: 'Watch imports' }),
  sse({ imported: Import }, async function* (_ctx, { lastEventId, signal }) {
    for (let sent = Number(lastEventId) || 0; ; ) {
      for (const data of imports.slice(sent)) {
        sent = data.number;
        yield { event: 'imported', id: String(sent), data };
      }
      if (sent === imports.length) await once(news, 'import', { signal });
    }
  }),
);

const app = createApp();
app.use(errorHandler());
app.use(openapi({ router, openapi: '3.2', info: { title: 'Imports', version: '1.0.0' } }));
app.route('/api/imports', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
