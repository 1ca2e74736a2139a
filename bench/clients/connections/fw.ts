import { createClient } from '@fw/client';

import type { Connection } from '../connection.ts';
import type { paths } from '../servers/openapi.d.ts';

export function connect(baseUrl: string): Connection {
  const client = createClient<paths>({ baseUrl });
  return {
    read: () => client.get('/notes/{id}', { path: { id: '7' } }),
    create: () => client.post('/notes', { body: { text: 'a' } }),
    upload(file) {
      const body = new FormData();
      body.set('file', file);
      return client.post('/files', { body });
    },
  };
}
