import { setTimeout as sleep } from 'node:timers/promises';

import { sse } from '@fw/middleware/sse';
import { createServiceApp, runService, serviceVariables } from '@fw/service';
import * as z from 'zod';

/** Every replica sends the same events: their number is the time. */
const INTERVAL_MS = 1_000;

await runService({
  name: 'events',
  summary: 'sends a number every second',
  variables: serviceVariables({ port: 8084 }),
  start(_config, runtime) {
    const events = { number: z.object({ value: z.int() }) };
    const app = createServiceApp(runtime).get(
      '/api/v1/users/events',
      sse(
        events,
        async function* (_ctx, { lastEventId, signal }) {
          let value = Number(lastEventId) || Math.floor(Date.now() / INTERVAL_MS);
          for (;;) {
            while (value < Math.floor(Date.now() / INTERVAL_MS)) {
              value++;
              yield { event: 'number', id: String(value), data: { value } };
            }
            await sleep(INTERVAL_MS, undefined, { signal });
          }
        },
        { maxClients: 2_000 },
      ),
    );
    return { app };
  },
});
