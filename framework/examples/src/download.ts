import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { basicAuth } from '@fw/middleware/basic-auth';
import { sendFile } from '@fw/middleware/static-files';
import { createApp, createRouter, errorHandler, listen, NotFoundError, notFoundHandler } from 'fw';

/** A stored file: its name on the disk has no part that a user chose. */
interface Invoice {
  readonly owner: string;
  readonly file: string;
  readonly title: string;
}

const root = await mkdtemp(join(tmpdir(), 'invoices-'));
const invoices = new Map<string, Invoice>([
  ['1', { owner: 'ada', file: 'a1b2c3', title: 'Rechnung für März.csv' }],
  ['2', { owner: 'bob', file: 'd4e5f6', title: 'Invoice.csv' }],
]);
for (const { file } of invoices.values()) await writeFile(join(root, file), 'item,price\npen,2\n');

const authenticate = basicAuth({ users: { ada: process.env.ADA_PASSWORD ?? '' } });

const router = createRouter().get('/invoices/:id/file', authenticate, (ctx) => {
  const invoice = invoices.get(ctx.params.id);
  if (invoice?.owner !== ctx.state.user.id) throw new NotFoundError('Invoice not found');
  return sendFile(ctx, invoice.file, { root, downloadName: invoice.title });
});

const app = createApp().use(errorHandler());
app.route('/', router);
app.use(router.allowedMethods(), notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
