import { Hono } from 'hono';
import { validator } from 'hono/validator';

const note = { id: '', text: '' };

export const app = new Hono()
  .get('/notes/:id', (c) => c.json(note))
  .post(
    '/notes',
    validator('json', (value) => value as { text: string }),
    (c) => c.json(note, 201),
  )
  .post(
    '/files',
    validator('form', (value) => value as { file: File }),
    (c) => c.json(note, 201),
  );
