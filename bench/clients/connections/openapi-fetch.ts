import createClient from 'openapi-fetch';

import type { Connection } from '../connection.ts';
import type { paths } from '../servers/openapi.d.ts';

export function connect(baseUrl: string): Connection {
  const client = createClient<paths>({ baseUrl });
  return {
    read: () => client.GET('/notes/{id}', { params: { path: { id: '7' } } }),
    create: () => client.POST('/notes', { body: { text: 'a' } }),
    upload(file) {
      const form = new FormData();
      form.set('file', file);
      return client.POST('/files', { body: { file: '' }, bodySerializer: () => form });
    },
  };
}
