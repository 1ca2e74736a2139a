import { isUtf8 } from 'node:buffer';

import { BadRequestError } from '@fw/errors';

import { readEscapes, readStructure } from './inspect-json.ts';

const MAX_DEPTH = 64;

function invalid(detail: string, cause?: unknown): BadRequestError {
  return new BadRequestError(detail, { code: 'INVALID_JSON', cause });
}

/**
 * Parses a JSON text and rejects content that programs interpret differently: invalid UTF-8, lone
 * surrogates and NUL in strings, keys that reach a prototype, nesting deeper than 64. For large
 * bodies the checks take about as long as parsing.
 *
 * @throws {BadRequestError} with the code `INVALID_JSON`
 */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  if (text.includes('\uFFFD') && !isUtf8(bytes)) throw invalid('The body must be UTF-8');
  checkStringsAndKeys(bytes, text);
  return parse(text);
}

/** A forbidden key that is written without escapes. */
const PROTO_KEY = /__proto__"\s*:/;
const CONSTRUCTOR_KEY = /constructor"\s*:\s*\{/;

/** Reads the bytes only if a native search of the text finds a reason. */
function checkStringsAndKeys(bytes: Buffer, text: string): void {
  let mayHaveName =
    PROTO_KEY.test(text) || (text.includes('prototype') && CONSTRUCTOR_KEY.test(text));
  if (text.includes('\\')) {
    const { hasNul, hasLoneSurrogate, hasDisguise } = readEscapes(bytes);
    if (hasNul) throw invalid('A string of the body must not contain NUL');
    if (hasLoneSurrogate) throw invalid('A string of the body must be well-formed Unicode');
    mayHaveName ||= hasDisguise;
  }
  if (!mayHaveName && !hasManyOpenings(text)) return;
  const { depth, hasProtoKey, hasConstructorPrototype } = readStructure(bytes);
  if (depth > MAX_DEPTH) throw invalid(`The body must be nested at most ${MAX_DEPTH} deep`);
  if (hasProtoKey) throw invalid('The body must not have the key "__proto__"');
  if (hasConstructorPrototype) {
    throw invalid('The body must not have the key "constructor.prototype"');
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The engine's message quotes the body; only the position may be sent.
    const position = /at position (\d+)/.exec(String(cause))?.[1];
    throw invalid(`The body is not valid JSON${position ? ` at position ${position}` : ''}`, cause);
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
