import { expect, test } from 'vitest';

import { TokenMemory } from './token-memory.ts';

test('what was found out of a token is known until it is too old', () => {
  let nowMs = 0;
  const memory = new TokenMemory<string>({ maxAgeMs: 100, now: () => nowMs });
  memory.add('token', 'ada');

  nowMs = 99;
  expect(memory.find('token')).toBe('ada');
  nowMs = 100;
  expect(memory.find('token')).toBeUndefined();
});

test.each(['', 'toke', 'token ', 'Token'])('the token %j is another one', (other) => {
  const memory = new TokenMemory<string>();
  memory.add('token', 'ada');

  expect(memory.find(other)).toBeUndefined();
});

test('of more tokens than it has room for those that came last are known', () => {
  const memory = new TokenMemory<string>({ size: 2 });

  for (const token of ['a', 'b', 'c']) memory.add(token, token);

  expect(['a', 'b', 'c'].map((token) => memory.find(token))).toEqual([undefined, 'b', 'c']);
});
