/*
 * The normal form of a path, which all guards, prefixes and routes compare: printable ASCII
 * characters are decoded, all other bytes are upper-case escapes (RFC 3986 §6.2.2). `%2F`, `%25`,
 * `%3F` and `%23` stay escaped, because they would change the segments or the end of the path.
 * Letters keep their case; a trailing slash stays.
 */

const SLASH = 0x2f;
const DOT = 0x2e;

/** 1 for characters that a segment in normal form contains unescaped. */
const PLAIN = new Uint8Array(128);
for (let code = 0x21; code < 0x7f; code++) PLAIN[code] = 1;
for (const character of '%?#\\') PLAIN[character.charCodeAt(0)] = 0;

/** Whether `path` is already in normal form, like almost every path. */
function isNormal(path: string): boolean {
  let previous = 0;
  for (let at = 0; at < path.length; at++) {
    const code = path.charCodeAt(at);
    if (PLAIN[code] !== 1 || (code === DOT && previous === SLASH)) return false;
    previous = code;
  }
  return path.charCodeAt(0) === SLASH;
}

/**
 * The normal form of `path`, or `undefined` if the path is invalid: a malformed escape, invalid UTF-8,
 * a `.` or `..` segment, a backslash or a NUL, raw or escaped, or a raw character that a path must not
 * contain (such as `#`).
 */
export function normalizePath(path: string): string | undefined {
  return isNormal(path) ? path : rewrite(path);
}

function rewrite(path: string): string | undefined {
  if (path.charCodeAt(0) !== SLASH) return undefined;
  const segments: string[] = [];
  for (const raw of path.slice(1).split('/')) {
    const text = decode(raw);
    if (text === undefined || text.split('/').some(isForbidden)) return undefined;
    segments.push(encode(text));
  }
  return `/${segments.join('/')}`;
}

function decode(segment: string): string | undefined {
  for (let at = 0; at < segment.length; at++) {
    const code = segment.charCodeAt(at);
    if (PLAIN[code] !== 1 && code !== 0x25) return undefined;
  }
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

/** Whether other programs could read `piece` as a parent folder, a separator or the end of the text. */
function isForbidden(piece: string): boolean {
  return piece === '.' || piece === '..' || piece.includes('\\') || piece.includes('\0');
}

function encode(text: string): string {
  let encoded = '';
  for (const character of text) {
    const isPlain = character !== '/' && PLAIN[character.charCodeAt(0)] === 1;
    encoded += isPlain ? character : encodeURIComponent(character);
  }
  return encoded;
}

/** `text` with ASCII letters in lower case, for comparisons that ignore case. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/** Whether `requested` is `path`, ignoring case and a trailing slash as routes do by default. */
export function isSamePath(requested: string, path: string): boolean {
  const isSlashed = requested.length === path.length + 1 && requested.endsWith('/');
  if (!isSlashed && requested.length !== path.length) return false;
  return foldCase(isSlashed ? requested.slice(0, -1) : requested) === foldCase(path);
}

/**
 * Converts a path that a program registers, such as `/files/:id`, to normal form.
 *
 * @throws {TypeError} if it does not start with `/`, has an empty segment, or no request can have it
 */
export function readPattern(pattern: string, action: string): string {
  if (typeof pattern !== 'string') {
    throw new TypeError(
      `${action}: expected a path as text, such as "/users/:id"; "/*" at the end matches any rest`,
    );
  }
  if (!pattern.startsWith('/')) {
    throw new TypeError(`${action}: the path must start with "/"`);
  }
  if (pattern.includes('//')) {
    throw new TypeError(`${action}: the path must not have an empty segment`);
  }
  const path = pattern.isWellFormed() ? normalizePath(encodeUnsafe(pattern)) : undefined;
  if (path === undefined) {
    const expected = /\/:[\w-]+[?(]/.test(pattern)
      ? 'a parameter is ":" and a name; optional parameters and regular expressions are not supported'
      : 'no request can have this path';
    throw new TypeError(`${action}: ${expected}`);
  }
  return path;
}

/** Escapes characters that a request must escape, but a program need not: `/café`. */
function encodeUnsafe(pattern: string): string {
  return pattern.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}

/**
 * Returns a function that tests whether a path is `pattern` or under it. Compares whole segments of
 * paths in normal form, like routes; ignores case unless `caseSensitive`. A parameter matches any
 * non-empty segment.
 */
export function createPrefixTest(
  pattern: string,
  caseSensitive = false,
): (path: string) => boolean {
  const trimmed = pattern.endsWith('/') ? pattern.slice(0, -1) : pattern;
  const segments = trimmed.split('/').map((segment) => ({
    isParameter: segment.startsWith(':'),
    text: caseSensitive ? segment : foldCase(segment),
  }));
  return (path) => {
    let at = 0;
    for (const { isParameter, text } of segments) {
      const end = isParameter ? endOfSegment(path, at) : at + text.length;
      if (isParameter ? end <= at : !matchesAt(path, at, text, caseSensitive)) return false;
      if (end !== path.length && path.charCodeAt(end) !== SLASH) return false;
      at = end + 1;
    }
    return true;
  };
}

function endOfSegment(path: string, start: number): number {
  const slash = path.indexOf('/', start);
  return slash < 0 ? path.length : slash;
}

/** Whether `path` contains `text` at `start`; `text` is in lower case unless `caseSensitive`. */
function matchesAt(path: string, start: number, text: string, caseSensitive: boolean): boolean {
  if (path.length < start + text.length) return false;
  for (let at = 0; at < text.length; at++) {
    const code = path.charCodeAt(start + at);
    const isUpper = !caseSensitive && code >= 0x41 && code <= 0x5a;
    if ((isUpper ? code + 32 : code) !== text.charCodeAt(at)) return false;
  }
  return true;
}
