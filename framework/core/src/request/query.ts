import type { Query } from '../context.ts';
import { BadRequestError } from '../response/http-error.ts';

const MAX_PAIRS = 1000;

/**
 * Parses form encoding: `+` is a space, a repeated key becomes an array. Errors name it as `subject`.
 *
 * @throws {BadRequestError} on a malformed escape and on more than 1,000 keys
 */
export function parseQuery(text: string, subject = 'query'): Query {
  const query: Query = Object.create(null);
  if (text === '') return query;
  for (const pair of splitPairs(text, subject)) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const key = decodeField(equals < 0 ? pair : pair.slice(0, equals), subject);
    const value = equals < 0 ? '' : decodeField(pair.slice(equals + 1), subject);
    const present = query[key];
    if (present === undefined) query[key] = value;
    else if (typeof present === 'string') query[key] = [present, value];
    else present.push(value);
  }
  return query;
}

function splitPairs(text: string, subject: string): string[] {
  const pairs = text.split('&', MAX_PAIRS + 1);
  if (pairs.length > MAX_PAIRS) {
    throw new BadRequestError(`The ${subject} has more than ${MAX_PAIRS} keys`);
  }
  return pairs;
}

function decodeField(field: string, subject: string): string {
  const spaced = field.includes('+') ? field.replaceAll('+', ' ') : field;
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    throw new BadRequestError(`The ${subject} contains a malformed percent-escape`);
  }
}

const HASH = 0x23;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const LAST_PRINTABLE = 0x7e;

/**
 * Whether parsing this query can fail: then it is parsed before any middleware except `outermost`
 * runs. Other queries are parsed on the first use of `ctx.query`.
 */
export function needsCheck(text: string): boolean {
  let pairs = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === PERCENT || code === HASH || code > LAST_PRINTABLE) return true;
    if (code === AMPERSAND && ++pairs > MAX_PAIRS) return true;
  }
  return false;
}
