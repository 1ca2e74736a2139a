import { join } from 'node:path';

import { json } from '@fw/body-parser';
import { controllersPlugin } from '@fw/controllers';
import { createApp, createRouter, errorHandler, listen, notFoundHandler } from 'fw';

const app = createApp();
const router = createRouter();
app.use(errorHandler());
app.use(json());
app.plugin(
  controllersPlugin({ router, root: join(import.meta.dirname, 'controllers'), prefix: '/api' }),
);
app.route('/api', router);
app.use(router.allowedMethods());
app.use(notFoundHandler());
await listen(app, Number(process.env.PORT ?? 3000));
