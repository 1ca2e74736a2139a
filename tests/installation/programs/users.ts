import { listen } from 'fw';

import { createUsersApp } from './users-app.ts';

listen(createUsersApp(), Number(process.env.PORT));
