import { runService } from '@fw/service';
import * as z from 'zod';

import { createUsersApp } from '../../../services/users/src/app.ts';
import { VARIABLES } from '../../../services/users/src/config.ts';
import { openStore } from '../../../services/users/src/store/open.ts';
import { plantBug, STORE_BUGS } from './planted-bugs.ts';

/** The service users with a planted bug. */
await runService({
  name: 'users',
  summary: 'has a bug',
  variables: { ...VARIABLES, BUG: z.enum(STORE_BUGS).meta({ description: 'planted bug' }) },
  async start({ BUG, ...config }, runtime) {
    const store = plantBug(await openStore(config, runtime), BUG);
    return {
      app: createUsersApp({ ...runtime, store, bodyLimit: config.BODY_LIMIT }),
      checks: { store: () => store.check() },
      close: () => store.close(),
    };
  },
});
