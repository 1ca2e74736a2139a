import { isUtf8 } from 'node:buffer';

import { BadRequestError } from '@fw/errors';

const MAX_DEPTH = 64;

function invalid(detail: string, cause?: unknown): BadRequestError {
  return new BadRequestError(detail, { code: 'INVALID_JSON', cause });
}

/**
 * Reads a JSON text, and refuses what programs read in more than one way: octets that are no UTF-8,
 * lone surrogates and NUL in strings, keys that reach for a prototype, nesting deeper than 64.
 *
 * @throws {BadRequestError} with the code `INVALID_JSON`
 */
export function parseJson(bytes: Buffer): unknown {
  const text = bytes.toString('utf8');
  if (text.includes('\uFFFD') && !isUtf8(bytes)) throw invalid('The body must be UTF-8');
  if (hasManyOpenings(text) && depthOf(text) > MAX_DEPTH) {
    throw invalid(`The body must be nested at most ${MAX_DEPTH} deep`);
  }
  const value = parse(text);
  if (mayHoldForbidden(text)) refuseForbidden(value);
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    // The engine's message quotes the body; only the place may be told.
    const position = /at position (\d+)/.exec(String(cause))?.[1];
    throw invalid(`The body is not valid JSON${position ? ` at position ${position}` : ''}`, cause);
  }
}

/** Whether there are enough brackets for the nesting to be too deep; nearly never. */
function hasManyOpenings(text: string): boolean {
  let openings = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) {
      if (++openings > MAX_DEPTH) return true;
    }
  }
  return false;
}

/** The deepest nesting of brackets outside strings. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '"') at = endOfString(text, at);
    else if (character === '{' || character === '[') deepest = Math.max(deepest, ++depth);
    else if (character === '}' || character === ']') depth--;
  }
  return deepest;
}

/** The closing quote of the string that begins at `start`, or the end of `text`. */
function endOfString(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

/** Only an escape can make NUL, a lone surrogate or a disguised key; a plain text shows its keys. */
function mayHoldForbidden(text: string): boolean {
  return text.includes('\\') || text.includes('__proto__') || text.includes('constructor');
}

/** Looks at every key and string; how deep that goes is bounded by `MAX_DEPTH`. */
function refuseForbidden(value: unknown): void {
  if (typeof value === 'string') refuseText(value);
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    if (key === '__proto__') throw invalid('The body must not have the key "__proto__"');
    if (key === 'constructor' && isObjectWith(member, 'prototype')) {
      throw invalid('The body must not have the key "constructor.prototype"');
    }
    refuseText(key);
    refuseForbidden(member);
  }
}

function isObjectWith(value: unknown, key: string): boolean {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key);
}

function refuseText(text: string): void {
  if (text.includes('\0')) throw invalid('A string of the body must not hold NUL');
  if (!text.isWellFormed()) throw invalid('A string of the body must be well-formed Unicode');
}
