/** The words of a service: `orders`, and `order` for one of its resources. */
export interface ServiceWords {
  readonly plural: string;
  readonly singular: string;
}

export interface RequestedWords {
  readonly name: string;
  /** Empty: the name without its final "s". */
  readonly singular: string;
}

/** Words that the code or SQL of a service cannot use as an identifier. */
const RESERVED = new Set(
  `await break case catch class const continue debugger default delete do else enum export extends false
  finally for function if implements import in instanceof interface let new null package private protected
  public return static super switch this throw true try typeof var void while with yield
  all and any as asc both check collate column columns constraint desc distinct end except fetch foreign
  from grant group having index indexes initially into join leading left like limit natural not offset on
  only or placing primary references right select set some table then to trailing union unique user users
  using values variadic view when where window
  app apps body check config configs count counts context cursor day days domain domains email error errors
  id key keys list lists main name names now origin page path paths request response row rows router routers
  runtime schema schemas statement statements store stores test tests total v1 v2 version versions
  edge global monitoring platform postgres service services tokens valkey`.split(/\s+/),
);

/**
 * The words of a new service.
 *
 * @throws {RangeError} if a word is not lower-case letters, is reserved, or is one of `taken`
 */
export function readWords(
  { name, singular: requested }: RequestedWords,
  taken: readonly string[],
): ServiceWords {
  if (!/^[a-z]{2,20}$/.test(name)) {
    throw new RangeError(`NAME is "${name}": expected 2 to 20 lower-case letters, such as orders`);
  }
  if (taken.includes(name)) {
    throw new RangeError(`NAME is "${name}": there is already a service or package of this name`);
  }
  const singular = requested || (name.endsWith('s') ? name.slice(0, -1) : '');
  if (singular === '') {
    throw new RangeError(
      `Cannot derive the name of one resource from "${name}": set SINGULAR, such as SINGULAR=item`,
    );
  }
  if (!/^[a-z]{2,20}$/.test(singular) || singular === name) {
    throw new RangeError(
      `SINGULAR is "${singular}": expected 2 to 20 lower-case letters, and not the same as NAME`,
    );
  }
  if (RESERVED.has(name)) {
    throw new RangeError(`NAME is "${name}", which is reserved: expected another word`);
  }
  if (RESERVED.has(singular)) {
    throw new RangeError(
      `SINGULAR is "${singular}", which is reserved: set another word, such as SINGULAR=item`,
    );
  }
  return { plural: name, singular };
}

/**
 * The port of a new service: `requested`, or the one after the highest default port of a service if it is empty.
 *
 * @throws {RangeError} if it is not a port, or is one of `taken`: the default ports, with their owners
 */
export function readPort(requested: string, taken: ReadonlyMap<number, string>): number {
  if (requested === '') return Math.max(...taken.keys().filter((port) => port < 9_000)) + 1;
  const port = Number(requested);
  if (!/^\d+$/.test(requested) || port < 1_024 || port > 65_535) {
    throw new RangeError(`PORT is "${requested}": expected a whole number from 1024 to 65535`);
  }
  const owner = taken.get(port);
  if (owner !== undefined) {
    throw new RangeError(`PORT is ${port}: it is the default port of ${owner}`);
  }
  return port;
}
