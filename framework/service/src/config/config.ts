import { readFileSync } from 'node:fs';

import { likelyMeant } from '@fw/core/options';
import * as z from 'zod';

import { factsOf } from './variable.ts';

/** What reads each variable of any configuration. */
export type AnyVariables = Readonly<Record<string, z.ZodType>>;

/** What reads each variable of a configuration. */
export type Variables<Config> = { readonly [Name in keyof Config]: z.ZodType<Config[Name]> };

/** What `readConfig` makes of `variables`. */
export type ConfigOf<Shape extends AnyVariables> = {
  readonly [Name in keyof Shape]: z.output<Shape[Name]>;
};

/** Tells what is wrong between variables that are good each on its own: one complaint an entry. */
export type ConfigRule<Config> = (config: Config) => readonly string[];

/**
 * Reads a service's configuration from the environment: typed, frozen, and all that is wrong with it
 * told at once. A variable that is set to nothing counts as not set; a secret `NAME` may also come
 * from the file that `NAME_FILE` names. A name that is nearly one of ours is a slip of the pen, and
 * stops the start like a bad value.
 *
 * ```ts
 * const config = readConfig({ ...serviceVariables({ port: 8081 }) }, process.env);
 * ```
 *
 * @throws {Error} whose message names each variable that is bad, missing or not known
 */
export function readConfig<Config extends object>(
  variables: Variables<Config>,
  env: NodeJS.ProcessEnv,
  rule: ConfigRule<Readonly<Config>> = () => [],
): Readonly<Config> {
  const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== '';
  const set = Object.fromEntries(Object.entries(env).filter(isSet));
  const complaints = complaintsOnNames(variables, Object.keys(set));
  const given = { ...set, ...readSecretFiles(variables, set, complaints) };

  const result = z.object(variables).safeParse(given);
  if (!result.success) {
    for (const { path, message } of result.error.issues) {
      const name = path.join('.');
      complaints.push(complaintOn(name, message, variables, given[name]));
    }
  }
  const config = Object.freeze(result.data as Config);
  if (complaints.length === 0) complaints.push(...rule(config));
  if (complaints.length > 0) throw new Error(complaints.join('; '));
  return config;
}

function complaintOn(
  name: string,
  message: string,
  variables: AnyVariables,
  value: string | undefined,
): string {
  if (value === undefined) return `${name} is missing: it ${message}`;
  const schema = variables[name];
  const { isQuotable = true } = schema ? factsOf(name, schema) : {};
  return isQuotable ? `${name} ${message}, got ${quote(value)}` : `${name} ${message}`;
}

/** The environment of a process holds much that is not ours; what nearly is ours is a mistake. */
function complaintsOnNames(variables: AnyVariables, names: readonly string[]): string[] {
  const secretFiles = secretsOf(variables).map((name) => `${name}_FILE`);
  const known = new Set([...Object.keys(variables), ...secretFiles]);
  const complaints: string[] = [];
  for (const name of names) {
    if (known.has(name)) continue;
    if (name.endsWith('_FILE') && known.has(name.slice(0, -5))) {
      complaints.push(`${name} is not known: ${name.slice(0, -5)} is no secret, so set it itself`);
      continue;
    }
    const meant = likelyMeant(name, known);
    if (meant) complaints.push(`${name} is not known: did you mean ${meant}?`);
  }
  return complaints;
}

/** The secrets that come from files; what is wrong with one is added to `complaints`. */
function readSecretFiles(
  variables: AnyVariables,
  set: NodeJS.Dict<string>,
  complaints: string[],
): NodeJS.Dict<string> {
  const secrets: NodeJS.Dict<string> = {};
  for (const name of secretsOf(variables)) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] !== undefined) {
      complaints.push(`${name} and ${name}_FILE are both set: expected one of them`);
      continue;
    }
    try {
      // An editor ends a file by a line break, which is no part of the secret.
      secrets[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException;
      complaints.push(
        `${name}_FILE must name a file that can be read, got ${quote(file)}: ${code}`,
      );
    }
  }
  return secrets;
}

function secretsOf(variables: AnyVariables): string[] {
  return Object.entries(variables)
    .filter(([name, schema]) => factsOf(name, schema).isSecret)
    .map(([name]) => name);
}

/** `value` on one line, cut short. */
function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}
