import path from 'node:path';

import { type AnyVariables, readConfig } from '@fw/service';

import { SERVICE_NAMES, type ServiceName } from '../../services/services.ts';
import { passedOn } from './processes/system.ts';

/** The configuration of each service: `VARIABLES` of its `config.ts`. */
export const VARIABLES = Object.fromEntries(
  await Promise.all(
    SERVICE_NAMES.map(async (name) => {
      const file = path.resolve(import.meta.dirname, `../../services/${name}/src/config.ts`);
      const config: { readonly VARIABLES: AnyVariables } = await import(file);
      return [name, config.VARIABLES];
    }),
  ),
) as Readonly<Record<ServiceName, AnyVariables>>;

/**
 * Checks the variables that `make up` passes to the services, before anything starts or stops.
 *
 * @throws {Error} naming each variable that a service would reject
 */
export function checkServiceVariables(env: NodeJS.ProcessEnv): void {
  for (const name of SERVICE_NAMES) readConfig(VARIABLES[name], passedOn(name, env));
}
