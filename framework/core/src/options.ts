/** Which values an option accepts, and their description in an error. */
export interface Check {
  readonly expected: string;
  /** Whether the option may have this value. */
  readonly accepts: (value: unknown) => boolean;
  readonly isRequired?: boolean;
}

/**
 * Checks the options of `owner`: every name must be one of `checks`, and every value must be
 * `undefined` or pass its check. Returns the same options; the caller applies the defaults.
 *
 * ```ts
 * const { prefix = '', strict = false } = readOptions('createRouter()', options, {
 *   prefix: aString,
 *   strict: aBoolean,
 * });
 * ```
 *
 * @throws {TypeError} with the option, its value and the expected values
 */
export function readOptions<Options extends object>(
  owner: string,
  options: Options,
  checks: { readonly [Name in keyof Options]-?: Check },
): Options {
  if (!anObject.accepts(options)) {
    throw new TypeError(
      `Cannot read the options "${show(options)}" of ${owner}: expected ${anObject.expected}${hintOf(options)}`,
    );
  }
  for (const name of Object.keys(options)) {
    if (!Object.hasOwn(checks, name)) throw unknownOption(owner, name, Object.keys(checks));
  }
  // Not Object.entries(): some functions read their options in each request.
  for (const name in checks) {
    const { accepts, expected, isRequired }: Check = checks[name];
    const value: unknown = options[name];
    if (value === undefined && isRequired) {
      throw new TypeError(`${owner} needs the option ${name}: ${expected}`);
    }
    if (value !== undefined && !accepts(value)) throw badOption(owner, { name, value, expected });
  }
  return options;
}

/** The error for an option of `owner` with an invalid value. */
export function badOption(
  owner: string,
  { name, value, expected }: { name: string; value: unknown; expected: string },
): TypeError {
  return new TypeError(
    `Cannot read option ${name} "${show(value)}" of ${owner}: expected ${expected}${hintOf(value)}`,
  );
}

function hintOf(value: unknown): string {
  return value instanceof Promise ? '; is an await missing?' : '';
}

function unknownOption(owner: string, name: string, known: readonly string[]): TypeError {
  const meant =
    likelyMeant(name, known, { minLength: 3 }) ??
    known.find((other) => other.startsWith(name) || name.startsWith(other));
  const hint = meant === undefined ? 'its' : `did you mean "${meant}"? Its`;
  return new TypeError(`${owner} has no option "${name}"; ${hint} options: ${known.join(', ')}`);
}

const MAX_SHOWN_LENGTH = 100;

/** `value` as it appears in an error, shortened, without the user and password of an address. */
export function show(value: unknown): string {
  const shown =
    typeof value === 'string' || value instanceof URL
      ? String(value)
      : process
          .getBuiltinModule('node:util') // loaded only for an error
          .inspect(value, { depth: 0, breakLength: Number.POSITIVE_INFINITY });
  const text = shown.replace(/[^\s'"/]*:\/\/[^\s'"]*@/g, (part) => `${part.split(':', 1)}://…@`);
  return text.length > MAX_SHOWN_LENGTH ? `${text.slice(0, MAX_SHOWN_LENGTH)}…` : text;
}

/** Creates a check from its description and a test. */
export function check(expected: string, accepts: (value: unknown) => boolean): Check {
  return { expected, accepts };
}

/** The same check for an option without a default. */
export function required(option: Check): Check {
  return { ...option, isRequired: true };
}

/** Accepts `true` and `false`. */
export const aBoolean = check('true or false', (value) => typeof value === 'boolean');
/** Accepts strings, also empty ones. */
export const aString = check('a string', (value) => typeof value === 'string');
/** Accepts functions. */
export const aFunction = check('a function', (value) => typeof value === 'function');
/** Accepts objects that are neither lists nor promises. */
export const anObject = check(
  'an object',
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Promise),
);

/** Accepts an object or a function that has all `methods`. */
export function anObjectWith(expected: string, methods: readonly string[]): Check {
  return check(
    expected,
    (value) =>
      (typeof value === 'object' || typeof value === 'function') &&
      value !== null &&
      methods.every((method) => typeof Reflect.get(value, method) === 'function'),
  );
}

/** Accepts whole numbers from `from` to `to`. */
export function aWholeNumber(from: number, to: number): Check {
  return check(
    `a whole number from ${from} to ${to}`,
    (value) => Number.isSafeInteger(value) && Number(value) >= from && Number(value) <= to,
  );
}

/** Accepts the strings in `words`. */
export function oneOf(words: readonly string[]): Check {
  return check(`one of ${words.map((word) => `"${word}"`).join(', ')}`, (value) =>
    words.some((word) => word === value),
  );
}

/** Accepts a list, also an empty one, of values that `item` accepts. */
export function aListOf(expected: string, item: Check): Check {
  return check(expected, (value) => Array.isArray(value) && value.every(item.accepts));
}

/** Longer timers fire immediately. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Accepts times that a timer can measure. */
export const milliseconds = check(
  `0 to ${MAX_TIMER_MS} milliseconds`,
  (value) => typeof value === 'number' && value >= 0 && value <= MAX_TIMER_MS,
);

/**
 * The name in `known` that `name` probably misspells: it differs only in case, or by up to two edits.
 * Names shorter than `minLength`, by default 6, only match if they differ in case.
 */
export function likelyMeant(
  name: string,
  known: Iterable<string>,
  { minLength = 6 }: { readonly minLength?: number } = {},
): string | undefined {
  const names = [...known];
  for (const edits of [0, 1, 2]) {
    const meant = names.find(
      (candidate) =>
        // At most one edit per four letters: more would make another word.
        (edits === 0 || Math.min(name.length, candidate.length) >= minLength) &&
        edits * 4 < candidate.length &&
        isWithin(edits, name.toUpperCase(), candidate.toUpperCase()),
    );
    if (meant !== undefined) return meant;
  }
  return undefined;
}

/** Whether at most `edits` inserted, removed, changed or swapped letters turn `from` into `to`. */
function isWithin(edits: number, from: string, to: string): boolean {
  if (from === to) return true;
  if (Math.abs(from.length - to.length) > edits || edits === 0) return false;
  let same = 0;
  while (from[same] === to[same]) same++;
  const [a, b] = [from.slice(same), to.slice(same)];
  return (
    isWithin(edits - 1, a.slice(1), b.slice(1)) ||
    isWithin(edits - 1, a.slice(1), b) ||
    isWithin(edits - 1, a, b.slice(1)) ||
    (a[0] === b[1] && a[1] === b[0] && isWithin(edits - 1, a.slice(2), b.slice(2)))
  );
}
