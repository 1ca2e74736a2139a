import { isUtf8 } from 'node:buffer';

import { BadRequestError } from '../response/http-error.ts';
import { readEscapes, readStructure } from './inspect-json.ts';

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
