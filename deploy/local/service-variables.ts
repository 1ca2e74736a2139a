import fs from 'node:fs';
import path from 'node:path';

import { type AnyVariables, readConfig } from '@fw/service';

import { SERVICE_NAMES, type ServiceName, serviceOf } from '../../services/services.ts';
import { writeFile } from './state.ts';

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

/** Whether requests to `service` need a token: always, or with `AUTH=required`. */
export function needsTokens(service: ServiceName, env: NodeJS.ProcessEnv): boolean {
  if (serviceOf(service).authenticated) return true;
  return 'AUTH' in VARIABLES[service] && env.AUTH === 'required';
}

/**
 * The variables in `env` that `service` declares, except those that `make up` decides. A key of tokens is for the
 * services that need tokens: the others would reject it.
 */
export function passedOn(service: ServiceName, env: NodeJS.ProcessEnv): Record<string, string> {
  const isForOthers = (name: string) => name.startsWith('JWT_') && !needsTokens(service, env);
  const names = Object.keys(VARIABLES[service]).filter(
    (name) => !OWN_VARIABLES.includes(name) && !isForOthers(name),
  );
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

type Variables = Readonly<Record<string, string | undefined>>;

const fileOf = (run: string) => path.join(run, 'variables.json');

/** Records the variables of the running system, readable only for the owner: they contain passwords. */
export function keepVariables(run: string, env: NodeJS.ProcessEnv): void {
  const { NODE_OPTIONS } = env;
  const variables = SERVICE_NAMES.map((name) => passedOn(name, env));
  writeFile(fileOf(run), `${JSON.stringify(Object.assign({ NODE_OPTIONS }, ...variables))}\n`);
}

/** The variables of the running system, which its commands must use too; undefined if there is none. */
export function keptVariables(run: string): Variables | undefined {
  return fs.existsSync(fileOf(run)) ? JSON.parse(fs.readFileSync(fileOf(run), 'utf8')) : undefined;
}
