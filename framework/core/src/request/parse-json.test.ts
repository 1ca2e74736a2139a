import { BadRequestError } from '@fw/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { parseJson } from './parse-json.ts';

/** Whether `parseJson` must accept these bytes: JSON.parse accepts them, and no value is forbidden. */
function isAllowed(octets: Uint8Array): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(octets);
    return isAllowedValue(JSON.parse(text), 1);
  } catch {
    return false;
  }
}

function isAllowedValue(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return isAllowedText(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth > 64) return false;
  return Object.keys(value).every((key) => {
    const member: unknown = Object.getOwnPropertyDescriptor(value, key)?.value;
    const reachesPrototype =
      key === '__proto__' ||
      (key === 'constructor' && member instanceof Object && Object.hasOwn(member, 'prototype'));
    return !reachesPrototype && isAllowedText(key) && isAllowedValue(member, depth + 1);
  });
}

/** Whether a key occurs twice in an object: which of the two values counts is not defined (RFC 8259 §4). */
function hasDuplicateKey(body: Buffer): boolean {
  try {
    const inText = body.toString().match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0;
    return inText !== countKeys(JSON.parse(body.toString()));
  } catch {
    return false;
  }
}

function countKeys(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(Object.getOwnPropertyDescriptors(value)).map(({ value }) => value);
  const own = Array.isArray(value) ? 0 : members.length;
  return members.reduce((sum: number, member) => sum + countKeys(member), own);
}

function isAllowedText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

const key = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 4 }),
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'a'),
);
const { value: anyValue } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 6 }),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(key, tie('value'), { maxKeys: 3, noNullPrototype: false }),
  ),
}));

/** Parts of strings in which escapes, quotes and backslashes meet, short and longer than one search. */
const piece = fc.constantFrom(
  ...String.raw`\\ \" \n \u0000 \ud83d \uDE00 \u005f u0000 __proto__ \u005f_proto_\u005F`.split(
    ' ',
  ),
  ...String.raw`":{" "," ":[{" "},{" constructor prototype c\u006fnstructor`.split(' '),
  'x'.repeat(70),
);

/** An object with the pieces in a row: sometimes JSON, if the brackets close it. */
function wrap(pieces: readonly string[]): string {
  const text = `[{"${pieces.join('')}"`;
  const open = [...text.replace(/"(?:[^"\\]|\\.)*"/g, '')].filter((one) => '{['.includes(one));
  const isKey = /[{,]"(?:[^"\\]|\\.)*"$/.test(text);
  return `${text}${isKey ? ':1' : ''}${open
    .reverse()
    .map((one) => (one === '{' ? '}' : ']'))
    .join('')}`;
}

/** JSON with some of its characters escaped, doubled, dropped or replaced, and octets of any kind. */
const anyBody = fc.oneof(
  { weight: 3, arbitrary: anyValue.map((value) => Buffer.from(JSON.stringify(value))) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        anyValue,
        fc.nat(),
        fc.constantFrom('', '"', '\\', '\\u0000', '\\ud800', '[', '}', ',', '\xff', ' '),
      )
      .map(([value, at, piece]) => {
        const text = Buffer.from(JSON.stringify(value)).toString('latin1');
        const place = at % (text.length + 1);
        return Buffer.from(text.slice(0, place) + piece + text.slice(place + (at % 2)), 'latin1');
      }),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(anyValue, fc.nat({ max: 90 }))
      .map(([value, depth]) =>
        Buffer.from('['.repeat(depth) + JSON.stringify(value) + ']'.repeat(depth)),
      ),
  },
  { weight: 2, arbitrary: fc.array(piece, { maxLength: 8 }).map((all) => Buffer.from(wrap(all))) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((octets) => Buffer.from(octets)) },
);

test('any body is parsed as JSON.parse does, or rejected by a documented rule', () => {
  const counts = { parsed: 0, rejected: 0 };

  fc.assert(
    fc.property(anyBody, (body) => {
      fc.pre(!hasDuplicateKey(body));
      if (isAllowed(body)) {
        counts.parsed++;
        const parsed = JSON.stringify(parseJson(body));
        if (parsed !== JSON.stringify(JSON.parse(body.toString()))) throw new Error(parsed);
      } else {
        counts.rejected++;
        try {
          parseJson(body);
        } catch (error) {
          if (error instanceof BadRequestError && error.code === 'INVALID_JSON') return;
          throw error;
        }
        throw new Error('It was parsed');
      }
    }),
    { numRuns: 25_000 },
  );

  expect(counts.parsed).toBeGreaterThan(5_000);
  expect(counts.rejected).toBeGreaterThan(5_000);
});
