/**
 * The one normal form of a request path: what guards, mounts, groups and routes all compare.
 *
 * Every octet that is a printable ASCII character stands as that character, every other one as an
 * upper-case escape (RFC 3986 §6.2.2); `%2F`, `%25`, `%3F` and `%23` stay escaped, because decoding
 * them would change where a segment ends. Letters keep their case, a trailing slash stays.
 */

const SLASH = 0x2f;
const DOT = 0x2e;

/** 1 for a character that stands in a normal path as it is, segment by segment; 0 for all others. */
const PLAIN = new Uint8Array(128);
for (let code = 0x21; code < 0x7f; code++) PLAIN[code] = 1;
for (const character of '%?#\\') PLAIN[character.charCodeAt(0)] = 0;

/** Whether `path` is in normal form already, as nearly every path is. */
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
 * The normal form of `path`, or `undefined` if no such path may be asked for: it holds a malformed
 * escape, octets that are no UTF-8, a `.` or `..` segment, a backslash or a NUL, raw or escaped, or
 * a character that no path may hold as it is (`#` among them).
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

/** A piece that another program could read as a step up, another separator or an end of text. */
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

/** The text behind a segment of a normal path. */
export function decodeSegment(segment: string): string {
  return segment.includes('%') ? decodeURIComponent(segment) : segment;
}

/** `text` with its ASCII letters in lower case: how paths compare where case does not count. */
export function foldCase(text: string): string {
  return text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
}

/**
 * Reads a path that a program registers, such as `/files/:id`, into normal form.
 *
 * @throws {TypeError} if it does not start with `/`, has an empty segment, or no request can have it
 */
export function readPattern(pattern: string, action: string): string {
  if (typeof pattern !== 'string' || !pattern.startsWith('/')) {
    throw new TypeError(`${action}: the path must start with "/"`);
  }
  if (pattern.includes('//')) {
    throw new TypeError(`${action}: the path must not have an empty segment`);
  }
  const path = pattern.isWellFormed() ? normalizePath(encodeUnsafe(pattern)) : undefined;
  if (path === undefined) {
    throw new TypeError(`${action}: no request can have this path`);
  }
  return path;
}

/** Escapes what a person may write in a pattern but no request may hold as it is: `/café`. */
function encodeUnsafe(pattern: string): string {
  return pattern.replace(/[^\x21-\x7e]/gu, encodeURIComponent);
}
