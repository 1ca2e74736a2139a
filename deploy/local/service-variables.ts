import { readConfig } from '@fw/service';

import { VARIABLES as CATALOG } from '../../services/catalog/src/config.ts';
import { VARIABLES as REPORTS } from '../../services/reports/src/config.ts';
import { VARIABLES as USERS } from '../../services/users/src/config.ts';
import { passedOn } from './processes/system.ts';

/**
 * Checks the variables that `make up` passes to the services, before anything starts or stops.
 *
 * @throws {Error} naming each variable that a service would reject
 */
export function checkServiceVariables(env: NodeJS.ProcessEnv): void {
  readConfig(USERS, passedOn('users', env));
  readConfig(CATALOG, passedOn('catalog', env));
  readConfig(REPORTS, passedOn('reports', env));
}
