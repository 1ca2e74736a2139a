import { hc } from 'hono/client';

import type { Connection } from '../connection.ts';
import type { app } from '../servers/hono.ts';

export function connect(baseUrl: string): Connection {
  const client = hc<typeof app>(baseUrl);
  return {
    read: () => client.notes[':id'].$get({ param: { id: '7' } }),
    create: () => client.notes.$post({ json: { text: 'a' } }),
    upload: (file) => client.files.$post({ form: { file } }),
  };
}
