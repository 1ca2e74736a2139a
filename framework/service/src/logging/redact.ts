import createRedaction from '@pinojs/redact';

/** Makes JSON of a log line. */
export type Stringify = (line: object) => string;

/**
 * Makes JSON in which the values at these paths, in the form of pino, are `[Redacted]`.
 *
 * @throws {TypeError} if a path is invalid
 */
export function redactPaths(paths: readonly string[]): Stringify {
  if (paths.length === 0) return JSON.stringify;
  const invalid = paths.find((path) => !isPath(path));
  if (invalid !== undefined) {
    throw new TypeError(`Cannot redact "${invalid}": expected a path such as "items[*].token"`);
  }
  const redact = createRedaction({ paths: [...paths], censor: '[Redacted]' });
  // Without a prototype: a path such as `__proto__.a` would change it.
  return (line) => String(redact(Object.assign(Object.create(null), line)));
}

/** Names and wildcards, each after a dot or in brackets. */
const NAME = String.raw`[^\s.[\]*"',]+`;
const IN_BRACKETS = String.raw`\[(?:\*|\d+|"[^"]+"|'[^']+')\]`;
const PATH = new RegExp(`^(?:${NAME}|\\*|${IN_BRACKETS})(?:\\.(?:${NAME}|\\*)|${IN_BRACKETS})*$`);

function isPath(path: string): boolean {
  return PATH.test(path);
}

/** The paths in a list such as `password, items[*].token`. */
export function splitPaths(text: string): string[] {
  return text
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '');
}

/** Whether each path of such a list is valid. */
export function arePaths(text: string): boolean {
  return splitPaths(text).every(isPath);
}
