import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import type { RouterClient } from '@orpc/server';

import type { Connection } from '../connection.ts';
import type { router } from '../servers/orpc.ts';

export function connect(baseUrl: string): Connection {
  const client: RouterClient<typeof router> = createORPCClient(new RPCLink({ url: baseUrl }));
  return {
    read: () => client.read({ id: '7' }),
    create: () => client.create({ text: 'a' }),
    upload: (file) => client.upload(file),
  };
}
