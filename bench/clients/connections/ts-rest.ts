import { initClient } from '@ts-rest/core';

import type { Connection } from '../connection.ts';
import { contract } from '../servers/ts-rest.ts';

type Calls = Record<'read' | 'create' | 'upload', (options: object) => Promise<unknown>>;

export function connect(baseUrl: string): Connection {
  // The types of ts-rest need zod 3.
  const client = initClient(contract, { baseUrl, baseHeaders: {} }) as unknown as Calls;
  return {
    read: () => client.read({ params: { id: '7' } }),
    create: () => client.create({ body: { text: 'a' } }),
    upload: (file) => client.upload({ body: { file } }),
  };
}
