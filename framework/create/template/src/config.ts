import { serviceVariables } from '@fw/service';
import * as z from 'zod';

/** The environment variables of the service; `node src/main.ts config` prints them. */
export const VARIABLES = {
  ...serviceVariables({ port: 3000 }),
  DATABASE_FILE: z
    .string()
    .default('data/my-service.db')
    .meta({ description: 'SQLite file, created if missing' }),
};
