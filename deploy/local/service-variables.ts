import path from 'node:path';

import { type AnyVariables, readConfig } from '@fw/service';

import { SERVICE_NAMES, type ServiceName } from '../../services/services.ts';

/** The configuration of each service: `VARIABLES` of its `config.ts`. */
const VARIABLES = Object.fromEntries(
  await Promise.all(
    SERVICE_NAMES.map(async (name) => {
      const file = path.resolve(import.meta.dirname, `../../services/${name}/src/config.ts`);
      const config: { readonly VARIABLES: AnyVariables } = await import(file);
      return [name, config.VARIABLES];
    }),
  ),
) as Readonly<Record<ServiceName, AnyVariables>>;

/** What `make up` decides itself. A shell may have variables of these names for other programs. */
const OWN_VARIABLES = [
  ...['HOST', 'PORT', 'HEALTH_PORT', 'NODE_ENV', 'TRUST_PROXY', 'DATABASE_FILE'],
  ...SERVICE_NAMES.map(addressVariable),
];

/** The variable with the address of the service `name`, for those that call it. */
export function addressVariable(name: string): string {
  return `${name.toUpperCase()}_URL`;
}

/** The variables in `env` that `service` declares, except those that `make up` decides. */
export function passedOn(service: ServiceName, env: NodeJS.ProcessEnv): Record<string, string> {
  const names = Object.keys(VARIABLES[service]).filter((name) => !OWN_VARIABLES.includes(name));
  return Object.fromEntries(names.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/**
 * Checks the variables that `make up` passes to the services, before anything starts or stops.
 *
 * @throws {Error} naming each variable that a service would reject
 */
export function checkServiceVariables(env: NodeJS.ProcessEnv): void {
  for (const name of SERVICE_NAMES) readConfig(VARIABLES[name], passedOn(name, env));
}
