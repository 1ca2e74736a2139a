import { integer, readConfig, serviceVariables, text } from '@fw/service';

/** What the service reads from its environment, with the defaults. */
const VARIABLES = {
  ...serviceVariables({ port: 8081 }),
  DATABASE_FILE: text('.local/users.db'),
  BODY_LIMIT: integer({ from: 1, to: 64 * 1024 ** 2, fallback: 1024 ** 2 }),
};

export type UsersConfig = ReturnType<typeof readUsersConfig>;

/** @throws {Error} whose message names each bad variable */
export function readUsersConfig(env: NodeJS.ProcessEnv) {
  return readConfig(VARIABLES, env);
}
