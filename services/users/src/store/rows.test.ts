import { expect, test } from 'vitest';

import { readBatch } from './rows.ts';

test('a large user that is deleted meanwhile is omitted, and the next batch continues after it', async () => {
  const rows = [
    { position: 7, id: 'large', name: null, email: null },
    { position: 8, id: 'next', name: 'N', email: 'n' },
  ];

  const batch = await readBatch(rows, async () => undefined);

  expect(batch).toEqual({ users: [], next: 7 });
});
