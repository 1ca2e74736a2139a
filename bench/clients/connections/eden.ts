import { treaty } from '@elysiajs/eden';

import type { Connection } from '../connection.ts';
import type { app } from '../servers/elysia.ts';

export function connect(baseUrl: string): Connection {
  const client = treaty<typeof app>(baseUrl);
  return {
    read: () => client.notes({ id: '7' }).get(),
    create: () => client.notes.post({ text: 'a' }),
    upload: (file) => client.files.post({ file }),
  };
}
