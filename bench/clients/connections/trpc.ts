import { createTRPCClient, httpLink } from '@trpc/client';

import type { Connection } from '../connection.ts';
import type { router } from '../servers/trpc.ts';

export function connect(baseUrl: string): Connection {
  const client = createTRPCClient<typeof router>({ links: [httpLink({ url: baseUrl })] });
  return {
    read: () => client.read.query({ id: '7' }),
    create: () => client.create.mutate({ text: 'a' }),
    upload(file) {
      const form = new FormData();
      form.set('file', file);
      return client.upload.mutate(form);
    },
  };
}
