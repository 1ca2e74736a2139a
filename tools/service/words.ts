/** The words of a service: `orders`, and `order` for one of its resources. */
export interface ServiceWords {
  readonly plural: string;
  readonly singular: string;
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
 * The words of a new service.
 *
 * @param singular empty: the name without its final "s"
 * @throws {RangeError} if a word is not lower-case letters or is reserved, or the name is one of `taken`
 */
export function readWords(
  { name, singular: requested }: { readonly name: string; readonly singular: string },
  taken: readonly string[],
): ServiceWords {
  requireWord('NAME', name);
  if (taken.includes(name)) {
    throw new RangeError(`NAME is "${name}": there is already a service or package of this name`);
  }
  const singular = requested || (name.endsWith('s') ? name.slice(0, -1) : '');
  if (singular === '') {
    throw new RangeError(
      `Cannot derive the name of one resource from "${name}": set SINGULAR, such as SINGULAR=item`,
    );
  }
  requireWord('SINGULAR', singular);
  if (singular === name) {
    throw new RangeError(`SINGULAR is "${singular}": expected another word than NAME`);
  }
  return { plural: name, singular };
}

function requireWord(variable: string, word: string): void {
  if (!/^[a-z]{2,20}$/.test(word)) {
    throw new RangeError(
      `${variable} is "${word}": expected 2 to 20 lower-case letters, such as orders`,
    );
  }
  if (RESERVED.has(word)) {
    throw new RangeError(`${variable} is "${word}", which is reserved: expected another word`);
  }
}

/** Replaces the words of the template, such as `tasks`, `a task` and `TaskStore`. */
export function rename(text: string, { plural, singular }: ServiceWords): string {
  const article = /^[aeio]/.test(singular) ? 'an' : 'a';
  return text
    .replaceAll('my-service', plural)
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
