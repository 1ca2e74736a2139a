import { isUtf8 } from 'node:buffer';

import { BadRequestError } from '../response/http-error.ts';

const MAX_DEPTH = 64;

function invalid(detail: string, cause?: unknown): BadRequestError {
  return new BadRequestError(detail, { code: 'INVALID_JSON', cause });
}

/** The text of bytes in UTF-8; `undefined` if they are not UTF-8. */
export function decodeUtf8(bytes: Buffer): string | undefined {
  const text = bytes.toString();
  return text.includes('\uFFFD') && !isUtf8(bytes) ? undefined : text;
}

/** `text` without a byte order mark (RFC 8259 §8.1). */
export function skipByteOrderMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/**
 * Parses a JSON text and rejects content that programs interpret differently: invalid UTF-8, lone
 * surrogates and NUL in strings, keys that reach a prototype, nesting deeper than 64. For large texts the
 * checks take about as long as parsing. Errors call the text `what`.
 *
 * @throws {BadRequestError} with the code `INVALID_JSON`
 */
export function parseJson(bytes: Buffer, what = 'body'): unknown {
  const text = decodeUtf8(bytes);
  if (text === undefined) throw invalid(`The ${what} must be UTF-8`);
  checkStringsAndKeys(bytes, text, what);
  return parse(skipByteOrderMark(text), what);
}

/** A forbidden key that is written without escapes. */
const PROTO_KEY = /__proto__"\s*:/;
const CONSTRUCTOR_KEY = /constructor"\s*:\s*\{/;

/** Reads the bytes only if a native search of the text finds a reason. */
function checkStringsAndKeys(bytes: Buffer, text: string, what: string): void {
  let mayHaveName =
    PROTO_KEY.test(text) || (text.includes('prototype') && CONSTRUCTOR_KEY.test(text));
  if (text.includes('\\')) {
    const { hasNul, hasLoneSurrogate, hasDisguise } = readEscapes(bytes);
    if (hasNul) throw invalid(`A string of the ${what} must not contain NUL`);
    if (hasLoneSurrogate) throw invalid(`A string of the ${what} must be well-formed Unicode`);
    mayHaveName ||= hasDisguise;
  }
  if (!mayHaveName && !hasManyOpenings(text)) return;
  const { depth, hasProtoKey, hasConstructorPrototype } = readStructure(bytes);
  if (depth > MAX_DEPTH) throw invalid(`The ${what} must be nested at most ${MAX_DEPTH} deep`);
  if (hasProtoKey) throw invalid(`The ${what} must not have the key "__proto__"`);
  if (hasConstructorPrototype) {
    throw invalid(`The ${what} must not have the key "constructor.prototype"`);
  }
}

function parse(text: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The engine's message quotes the text; only the position may be sent.
    const position = /at position (\d+)/.exec(String(cause))?.[1];
    const where = position === undefined ? '' : ` at position ${position}`;
    throw invalid(`The ${what} is not valid JSON${where}`, cause);
  }
}

/** Whether there are enough opening brackets for the nesting to be too deep. */
function hasManyOpenings(text: string): boolean {
  let openings = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++openings > MAX_DEPTH) return true;
    }
  }
  return false;
}

/*
 * The following checks read the bytes and not the parsed value, because walking a value takes several
 * times as long as parsing it.
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COLON = 0x3a;
const SPACE = 0x20;
const ZERO = 0x30;
const LOWER_U = 0x75;

const PROTO = Buffer.from('__proto__');
const CONSTRUCTOR = Buffer.from('constructor');
const PROTOTYPE = Buffer.from('prototype');

/** Number of bytes after which a native search takes over: it is faster, but slower to start. */
const NEAR = 64;

/** The characters that the escapes in the strings of a text represent. */
interface Escapes {
  readonly hasNul: boolean;
  readonly hasLoneSurrogate: boolean;
  /** Whether an ASCII character is written as `\u`, so that the text of a key differs from the key. */
  readonly hasDisguise: boolean;
}

/** Reads all escapes. Only an escape can represent NUL or a lone surrogate in a valid JSON text. */
function readEscapes(bytes: Buffer): Escapes {
  let hasNul = false;
  let hasLoneSurrogate = false;
  let hasDisguise = false;
  let high = -1; // where an escape must begin that completes a pair of surrogates
  for (let at = indexOf(bytes, BACKSLASH, 0); at !== -1; at = indexOf(bytes, BACKSLASH, at + 2)) {
    if (bytes[at + 1] !== LOWER_U) continue;
    const unit = unitAt(bytes, at);
    if (unit >= 0xdc00 && unit <= 0xdfff) {
      if (high !== at) hasLoneSurrogate = true;
      high = -1;
      continue;
    }
    if (high !== -1) hasLoneSurrogate = true;
    high = unit >= 0xd800 && unit <= 0xdbff ? at + 6 : -1;
    if (unit === 0) hasNul = true;
    else if (unit < 0x80) hasDisguise = true;
  }
  return { hasNul, hasLoneSurrogate: hasLoneSurrogate || high !== -1, hasDisguise };
}

/** The UTF-16 code unit that the `\u` escape at `at` represents. */
function unitAt(bytes: Buffer, at: number): number {
  return (
    (hexAt(bytes, at + 2) << 12) |
    (hexAt(bytes, at + 3) << 8) |
    (hexAt(bytes, at + 4) << 4) |
    hexAt(bytes, at + 5)
  );
}

/** The value of a hexadecimal digit: letters have bit 6 set, and end in 1 to 6. */
function hexAt(bytes: Buffer, at: number): number {
  const digit = bytes[at] ?? ZERO;
  return (digit & 0xf) + (digit >> 6) * 9;
}

interface Structure {
  /** The deepest nesting of brackets outside strings. */
  readonly depth: number;
  readonly hasProtoKey: boolean;
  /** Whether the value of a key `constructor` is an object with a key `prototype`. */
  readonly hasConstructorPrototype: boolean;
}

/** Reads the brackets and keys of a text. */
function readStructure(bytes: Buffer): Structure {
  let depth = 0;
  let deepest = 0;
  let hasProtoKey = false;
  let hasConstructorPrototype = false;
  /** By depth, whether the object or array there is the value of a key `constructor`. */
  const isOfConstructor: boolean[] = [];
  let followsConstructor = false;
  const { length } = bytes;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] ?? 0;
    if (byte <= SPACE) continue;
    if (byte === QUOTE) {
      const start = at + 1;
      at = endOfString(bytes, start);
      followsConstructor = false;
      if (!mayBeName(bytes[start]) || !isKey(bytes, at)) continue;
      if (isName(PROTO, bytes, start, at)) hasProtoKey = true;
      else if (isName(CONSTRUCTOR, bytes, start, at)) followsConstructor = true;
      else if (isOfConstructor[depth] && isName(PROTOTYPE, bytes, start, at)) {
        hasConstructorPrototype = true;
      }
    } else if ((byte | 0x20) === 0x7b) {
      // `{`, or `[`, which differs in one bit
      deepest = Math.max(deepest, ++depth);
      isOfConstructor[depth] = followsConstructor;
      followsConstructor = false;
    } else if ((byte | 0x20) === 0x7d) {
      depth = Math.max(0, depth - 1);
      followsConstructor = false;
    }
  }
  return { depth: deepest, hasProtoKey, hasConstructorPrototype };
}

/** The closing quote of the string with the content at `start`, or the end of `bytes`. */
function endOfString(bytes: Buffer, start: number): number {
  let at = start;
  for (;;) {
    for (const near = at + NEAR; at < near; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at++;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1) return bytes.length;
    let run = quote; // of backslashes; an odd number of them escapes the quote
    while (bytes[run - 1] === BACKSLASH) run--;
    if ((quote - run) % 2 === 0) return quote;
    at = quote + 1;
  }
}

/** Whether the string that ends at `end` is a key. */
function isKey(bytes: Buffer, end: number): boolean {
  let at = end + 1;
  while ((bytes[at] ?? COLON) <= SPACE) at++;
  return bytes[at] === COLON;
}

/** Whether a string that begins with `byte` can be one of the names. */
function mayBeName(byte: number | undefined): boolean {
  return (
    byte === PROTO[0] || byte === CONSTRUCTOR[0] || byte === PROTOTYPE[0] || byte === BACKSLASH
  );
}

/** Whether the string from `start` to `end` is `name`, with some of its characters escaped or none. */
function isName(name: Buffer, bytes: Buffer, start: number, end: number): boolean {
  let at = start;
  for (let index = 0; index < name.length; index++) {
    const isEscape = bytes[at] === BACKSLASH && bytes[at + 1] === LOWER_U;
    if ((isEscape ? unitAt(bytes, at) : bytes[at]) !== name[index]) return false;
    at += isEscape ? 6 : 1;
  }
  return at === end;
}

function indexOf(bytes: Buffer, byte: number, start: number): number {
  const near = Math.min(start + NEAR, bytes.length);
  for (let at = start; at < near; at++) if (bytes[at] === byte) return at;
  return bytes.indexOf(byte, near);
}
