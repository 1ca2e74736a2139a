import { Elysia, t } from 'elysia';

const note = { id: '', text: '' };

export const app = new Elysia()
  .get('/notes/:id', () => note)
  .post('/notes', () => note, { body: t.Object({ text: t.String() }) })
  .post('/files', () => note, { body: t.Object({ file: t.File() }) });
