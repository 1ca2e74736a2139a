import { createHash } from 'node:crypto';

/** The words of a resource: `ticket`, and `tickets` in paths and tables. */
export interface Words {
  readonly singular: string;
  readonly plural: string;
}

/** Words that the code or the SQL of a service, or the charts, cannot use as a name. */
const RESERVED = new Set(
  `await break case catch class const continue debugger default delete do else enum export extends false
  finally for function if implements import in instanceof interface let new null package private protected
  public return static super switch this throw true try typeof var void while with yield
  all and any as asc both check collate column columns constraint desc distinct end except fetch foreign
  from grant group having index indexes initially into join leading left like limit natural not offset on
  only or placing primary references right select set some table then to trailing union unique user
  using values variadic view when where window
  app body config cursor database done id list main name next now page query request response row rows
  router schema schemas store stores test tests title url v1
  common edge global ingress monitoring nginx platform postgres service services tokens trial valkey`.split(
    /\s+/,
  ),
);

/**
 * The words of a resource from `ticket`, or from `person/people` if the plural is not the singular with "s".
 *
 * @throws {RangeError} if a word is not lower-case letters or is reserved
 */
export function readResource(text: string): Words {
  const [singular = '', plural = `${singular}s`, ...rest] = text.split('/');
  if (rest.length > 0 || singular === plural) {
    throw new RangeError(
      `--resource is "${text}": expected one word such as ticket, or two such as person/people`,
    );
  }
  requireWord('--resource', singular);
  requireWord('--resource', plural);
  return { singular, plural };
}

/** @throws {RangeError} with the name of the option, if a word is not lower-case letters or is reserved */
export function requireWord(option: string, word: string): void {
  if (!/^[a-z]{2,20}$/.test(word)) {
    throw new RangeError(
      `${option} is "${word}": expected 2 to 20 lower-case letters, such as orders`,
    );
  }
  if (RESERVED.has(word)) {
    throw new RangeError(`${option} is "${word}", which is reserved: expected another word`);
  }
}

/**
 * Replaces the words of the template, such as `tasks`, `a task`, `TaskStore` and the name `my-service`, and the number
 * that marks its SQLite files, so that no other service opens them.
 */
export function rename(text: string, { singular, plural }: Words, service = plural): string {
  const article = /^[aeio]/.test(singular) ? 'an' : 'a';
  const id = createHash('sha256').update(service).digest('hex').slice(0, 7);
  return text
    .replace('0x7461736b, // another number in each service', `0x${id},`)
    .replaceAll('my-service', service)
    .replaceAll('Tasks', capitalized(plural))
    .replaceAll('tasks', plural)
    .replaceAll('a task', `${article} ${singular}`)
    .replaceAll('A task', `${capitalized(article)} ${singular}`)
    .replaceAll('Task', capitalized(singular))
    .replaceAll('task', singular);
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
