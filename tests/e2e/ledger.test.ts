import { expect, test } from 'vitest';

import { compareUsers, readLedger } from './ledger.ts';

const ADA = { id: 'u1', email: 'ada@example.org', name: 'Load Ada' };
const BOB = { id: 'u2', email: 'bob@example.org', name: 'Load Bob' };

test('the ledger contains the users of the log, and no other line', () => {
  const log = [
    'time="2026-11-22T10:00:00Z" level=info msg="created u1 ada@example.org Load Ada" source=console',
    'time="2026-11-22T10:00:01Z" level=error msg="POST /api/v2/users: status 503" source=console',
  ];

  expect(readLedger(log.join('\n'))).toEqual([ADA]);
});

test.each([
  ['a missing row', [ADA], { matching: 1, missing: 1 }],
  ['a row with another name', [ADA, { ...BOB, name: '' }], { matching: 1, different: 1 }],
  ['a row with another e-mail address', [ADA, { ...BOB, email: 'x' }], { different: 1 }],
  ['a second row of one request', [ADA, BOB, { ...BOB, id: 'u3' }], { duplicates: 1 }],
  ['a row without a response', [ADA, BOB, { ...BOB, id: 'u3', email: 'c' }], { unacknowledged: 1 }],
])('the comparison counts %s', (_, rows, expected) => {
  const none = { missing: 0, different: 0, duplicates: 0, unacknowledged: 0 };

  expect(compareUsers([ADA, BOB], [ADA, BOB])).toEqual({ acknowledged: 2, matching: 2, ...none });
  expect(compareUsers([ADA, BOB], rows)).toMatchObject(expected);
});
