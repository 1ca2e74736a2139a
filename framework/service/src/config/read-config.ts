import { readFileSync } from 'node:fs';

import { likelyMeant } from '@fw/core/options';
import * as z from 'zod';

import { type AnyVariables, describeVariables } from './variables.ts';

/** The variables that `Config` is read from. */
export type Variables<Config> = { readonly [Name in keyof Config]: z.ZodType<Config[Name]> };

/** The configuration that `readConfig` reads from `variables`. */
export type ConfigOf<Shape extends AnyVariables> = {
  readonly [Name in keyof Shape]: z.output<Shape[Name]>;
};

/** Checks variables against each other; returns one message per problem. */
export type ConfigRule<Config> = (config: Config) => readonly string[];

/**
 * Reads a service's configuration from the environment: typed and frozen. An empty variable counts as
 * not set. A variable whose schema has `.meta({ secret: true })` is a secret: it may also come from the
 * file that `<name>_FILE` names, and no message repeats it. A name that nearly equals a known one is an
 * error too, and so is any unknown name in `CONFIG_NAMES`.
 *
 * ```ts
 * const config = readConfig({ ...serviceVariables({ port: 8081 }) }, process.env);
 * ```
 *
 * @throws {Error} whose message names every variable that is invalid, missing or misspelled
 */
export function readConfig<Config extends object>(
  variables: Variables<Config>,
  env: NodeJS.ProcessEnv,
  rule: ConfigRule<Readonly<Config>> = () => [],
): Readonly<Config> {
  const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== '';
  const set = Object.fromEntries(Object.entries(env).filter(isSet));
  const secrets = describeVariables(variables)
    .filter(({ secret }) => secret)
    .map(({ name }) => name);
  const problems = problemsOfNames(set, Object.keys(variables), secrets);
  const given = { ...set, ...readSecretFiles(secrets, set, problems) };

  const result = z.object(variables).safeParse(given, { error: describeIssue });
  for (const issue of result.error?.issues ?? []) {
    const name = issue.path.join('.');
    const value = given[name];
    // A URL may have a password.
    const isUrl = issue.code === 'invalid_format' && issue.format === 'url';
    if (value === undefined) problems.push(`${name} is missing: ${expectationOf(issue.message)}`);
    else if (isUrl || secrets.includes(name)) problems.push(`${name} ${issue.message}`);
    else problems.push(`${name} ${issue.message}, got ${quote(value)}`);
  }
  const config = Object.freeze(result.data as Config);
  if (problems.length === 0) problems.push(...rule(config));
  if (problems.length > 0) throw new Error(problems.join('; '));
  return config;
}

/**
 * The variable with the names that a deployment sets for the service only, separated by spaces. The charts
 * write it: without it, an unknown name could belong to another program.
 */
const CONFIG_NAMES = 'CONFIG_NAMES';

/** What `message`, such as `must be a string`, requires of a variable that is missing. */
function expectationOf(message: string): string {
  return message.startsWith('must be ') ? message.replace('must be', 'expected') : `it ${message}`;
}

/**
 * Returns a warning for each name in the environment that differs from a variable of fewer than six letters
 * by two swapped letters, such as `PROT`. It is no error: another program may have a variable with this name.
 */
export function suspectNames(variables: AnyVariables, env: NodeJS.ProcessEnv): string[] {
  const known = Object.keys(variables);
  return Object.keys(env)
    .filter((name) => !known.includes(name) && env[name] !== '')
    .flatMap((name) => {
      const meant = known.find((variable) => variable.length < 6 && isSwapped(name, variable));
      return meant ? `${name} is not a variable of this service: did you mean ${meant}?` : [];
    });
}

/** Whether `name` is `variable` with two neighbouring letters swapped. */
function isSwapped(name: string, variable: string): boolean {
  let at = 0;
  while (name[at] === variable[at] && at < variable.length) at++;
  const [first = '', second = '', ...rest] = variable.slice(at);
  return name === [variable.slice(0, at), second, first, ...rest].join('') && name !== variable;
}

/**
 * Reports unknown names that nearly equal a known one, and all that are meant for the service: the
 * environment has many names of other programs.
 */
function problemsOfNames(
  set: NodeJS.Dict<string>,
  known: readonly string[],
  secrets: readonly string[],
): string[] {
  const allowed = [...known, ...secrets.map((name) => `${name}_FILE`)];
  const meantForService = set[CONFIG_NAMES]?.split(' ') ?? [];
  return [...new Set([...Object.keys(set), ...meantForService])]
    .filter((name) => !allowed.includes(name))
    .flatMap((name) => {
      const variable = name.replace(/_FILE$/, '');
      if (known.includes(variable)) {
        return `${name} is not known: ${variable} is no secret, so set it itself`;
      }
      const meant = likelyMeant(name, allowed);
      if (meant) return `${name} is not known: did you mean ${meant}?`;
      return meantForService.includes(name) ? `${name} is not a variable of this service` : [];
    });
}

/** Reads the secrets that come from files; adds a message to `problems` for each invalid one. */
function readSecretFiles(
  names: readonly string[],
  set: NodeJS.Dict<string>,
  problems: string[],
): NodeJS.Dict<string> {
  const secrets: NodeJS.Dict<string> = {};
  for (const name of names) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] !== undefined) {
      problems.push(`${name} and ${name}_FILE are both set: expected one of them`);
      continue;
    }
    try {
      // Editors end a file with a line break, which is not part of the secret.
      secrets[name] = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException;
      problems.push(`${name}_FILE must name a file that can be read, got ${quote(file)}: ${code}`);
    }
  }
  return secrets;
}

/** `value` on one line, truncated to 60 characters. */
function quote(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

/**
 * Describes an issue of a variable whose schema has no message of its own, as the end of a sentence that
 * begins with the name. The messages of zod are sentences of their own; none contains the value.
 */
function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_type') return `must be a value of the type ${issue.expected}`;
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.join(', ')}`;
  const found = z.config().localeError?.(issue);
  const reason = typeof found === 'object' ? found?.message : found;
  return `must be a value that its schema accepts (${reason})`;
}
