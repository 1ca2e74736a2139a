import { expect, test } from 'vitest';

import { readTokens, tokenVerifier } from './tokens.ts';

const ADA = 'ada-0123456789abcdef';
const BOB = 'Ym9iLTAxMjM0NTY3ODk=';

test.each([
  [`${ADA}=ada`, [[ADA, 'ada']]],
  [
    `${ADA}=ada,${BOB}=bob`,
    [
      [ADA, 'ada'],
      [BOB, 'bob'],
    ],
  ],
  [
    `\n${ADA}=ada\r\n\n ${BOB}=bob \n`,
    [
      [ADA, 'ada'],
      [BOB, 'bob'],
    ],
  ],
  [`${ADA}=42`, [[ADA, '42']]],
])('readTokens reads %j', (text, entries) => {
  expect([...readTokens(text)]).toEqual(entries);
});

test.each([
  ['', 'holds no entry: expected token=userId'],
  [' ,\n', 'holds no entry: expected token=userId'],
  [ADA, 'entry 1 must be token=userId with a token of at least 16 characters'],
  [`${ADA}=`, 'entry 1 must be token=userId'],
  [`${ADA}=ada,=bob`, 'entry 2 must be token=userId'],
  [`${ADA}=ada,short=bob`, 'entry 2 must be token=userId'],
  ['a token with blanks=ada', 'entry 1 must be token=userId'],
  [`${ADA}=ada,${ADA}=bob`, 'entry 2 has the token of another one'],
])('readTokens refuses %j: %s', (text, message) => {
  expect(() => readTokens(text)).toThrow(message);
});

test('readTokens never repeats a token in what it says', () => {
  expect(() => readTokens('s3cret s3cret s3cret=ada')).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining('s3cret') }),
  );
});

test('a verifier knows the user of each token, and nobody else', async () => {
  const verify = tokenVerifier(readTokens(`${ADA}=ada,${BOB}=bob`));

  expect(await verify(ADA)).toEqual({ id: 'ada' });
  expect(await verify(BOB)).toEqual({ id: 'bob' });
  for (const token of ['', 'ada', ADA.slice(0, -1), `${ADA}0`, ADA.toUpperCase(), '__proto__']) {
    expect(await verify(token)).toBeUndefined();
  }
});
