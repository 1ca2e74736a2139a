import { expect, test } from 'vitest';
import * as z from 'zod';

import { plainText } from './plain-text.ts';

const schema = plainText({ min: 1, max: 3 });

test.each(['a', 'abc', '🙂🙂🙂', ' ', '\u0001\n'])('plainText accepts %j', (text) => {
  expect(schema.safeParse(text).success).toBe(true);
});

test.each(['', 'abcd', '🙂🙂🙂🙂', 'a\0', 'a\n\0', 7])('plainText rejects %j', (text) => {
  expect(schema.safeParse(text).success).toBe(false);
});

test('plainText is documented with its lengths and with a pattern that excludes NUL', () => {
  expect(z.toJSONSchema(schema)).toMatchObject({
    type: 'string',
    minLength: 1,
    maxLength: 3,
    pattern: '^[^\\x00]*$',
  });
});
