import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { forms } from '@fw/middleware/forms';
import { staticFiles } from '@fw/middleware/static-files';
import { BadRequestError, createApp, errorHandler, listen, notFoundHandler } from 'fw';

/** The names and endings of the accepted types; the client chooses neither name nor path of a stored file. */
const ENDINGS: Readonly<Record<string, string>> = { 'image/png': 'png', 'image/jpeg': 'jpg' };

const folder = await mkdtemp(join(tmpdir(), 'photos-'));

const app = createApp();
app.use(errorHandler());
app.post('/photos', forms({ multipart: { maxFiles: 1, fileLimit: 1024 ** 2 } }), async (ctx) => {
  const { photo } = ctx.body;
  if (!(photo instanceof File)) throw new BadRequestError('photo must be a file');
  const ending = ENDINGS[photo.type];
  if (!ending) throw new BadRequestError('photo must be a PNG or JPEG image');
  const name = `${crypto.randomUUID()}.${ending}`;
  await writeFile(join(folder, name), photo.stream());
  ctx.status = 201;
  ctx.set('Location', `/photos/${name}`);
  return { data: { id: name, sizeBytes: photo.size } };
});
app.use(staticFiles({ root: folder, prefix: '/photos' }));
app.use(app.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
