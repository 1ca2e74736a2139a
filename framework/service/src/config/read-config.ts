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

/** How long the value of a secret's file is used before the file is read again. */
const REREAD_MS = 1_000;

/** Checks variables against each other; returns one message per problem. */
export type ConfigRule<Config> = (config: Config) => readonly string[];

/**
 * Reads a service's configuration from the environment: typed and frozen. An empty variable counts as
 * not set. A variable whose schema has `.meta({ secret: true })` is a secret: it may also come from the
 * file that `<name>_FILE` names, and no message repeats it. A name that nearly equals a known one is an
 * error too, and so is any unknown name in `CONFIG_NAMES`.
 *
 * A secret from a file is a getter, which reads the file again after a second: use the property each time, not
 * a copy. While the file is missing or invalid, it has its last valid value; `warn` gets the reason once.
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
  warn: (problem: string) => void = () => {},
): Readonly<Config> {
  const isSet = ([, value]: [string, unknown]) => value !== undefined && value !== '';
  const set = Object.fromEntries(Object.entries(env).filter(isSet));
  const secrets = describeVariables(variables)
    .filter(({ secret }) => secret)
    .map(({ name }) => name);
  const problems = problemsOfNames(set, Object.keys(variables), secrets);
  const files = findSecretFiles(secrets, set, problems);
  const given = { ...set, ...readSecretFiles(files, problems) };

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
  if (problems.length > 0) throw new Error(problems.join('; '));
  const config = result.data as Config;
  for (const [name, file] of files) {
    const key = name as keyof Config;
    const get = followSecretFile(config[key], { name, file, schema: variables[key], warn });
    Object.defineProperty(config, name, { get });
  }
  Object.freeze(config);
  problems.push(...rule(config));
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

/** Finds the files of secrets, by variable; adds a message to `problems` for each secret that is set twice. */
function findSecretFiles(
  names: readonly string[],
  set: NodeJS.Dict<string>,
  problems: string[],
): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const name of names) {
    const file = set[`${name}_FILE`];
    if (file === undefined) continue;
    if (set[name] === undefined) files.set(name, file);
    else problems.push(`${name} and ${name}_FILE are both set: expected one of them`);
  }
  return files;
}

/** Reads secrets from their files; adds a message to `problems` for each file that cannot be read. */
function readSecretFiles(
  files: ReadonlyMap<string, string>,
  problems: string[],
): NodeJS.Dict<string> {
  const secrets: NodeJS.Dict<string> = {};
  for (const [name, file] of files) {
    try {
      secrets[name] = readSecretFile(name, file);
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  return secrets;
}

/** @throws {Error} naming the variable and the file that cannot be read */
function readSecretFile(name: string, file: string): string {
  try {
    // Editors end a file with a line break, which is not part of the secret.
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code = String(error) } = error as NodeJS.ErrnoException;
    throw new Error(`${name}_FILE must name a file that can be read, got ${quote(file)}: ${code}`);
  }
}

interface FollowedFile<Value> {
  readonly name: string;
  readonly file: string;
  readonly schema: z.ZodType<Value>;
  readonly warn: (problem: string) => void;
}

/** Returns a function that returns the current value of a secret's file; `value` is that of the start. */
function followSecretFile<Value>(
  value: Value,
  { name, file, schema, warn }: FollowedFile<Value>,
): () => Value {
  let last = value;
  let rereadMs = performance.now() + REREAD_MS;
  let problem: string | undefined;

  function read(): Value {
    const result = schema.safeParse(readSecretFile(name, file), { error: describeIssue });
    if (result.success) return result.data;
    throw new Error(`${name} ${result.error.issues[0]?.message}`);
  }

  return () => {
    if (performance.now() < rereadMs) return last;
    rereadMs = performance.now() + REREAD_MS;
    try {
      last = read();
      problem = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== problem) warn(`${message}; its last valid value is used`);
      problem = message;
    }
    return last;
  };
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
