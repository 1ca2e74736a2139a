import fs from 'node:fs';

import { websocket } from '@fw/middleware/websocket';
import { createServiceApp, runService, serviceVariables } from '@fw/service';
import * as z from 'zod';

const variables = {
  ...serviceVariables({ port: 8084 }),
  RECEIVED: z.string().meta({ description: 'file to which received messages are appended' }),
};

/** Stores each message before it confirms it. */
await runService({
  name: 'messages',
  summary: 'confirms messages',
  variables,
  start({ RECEIVED }, runtime) {
    const file = fs.openSync(RECEIVED, 'a');
    const route = websocket({
      schema: z.object({ id: z.string() }),
      maxClients: 2_000,
      message(client, { id }) {
        fs.writeSync(file, `${id}\n`);
        client.send({ confirmed: id });
      },
    });
    return { app: createServiceApp(runtime).get('/api/v2/users/messages', route) };
  },
});
