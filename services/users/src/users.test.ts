import { expect, test } from 'vitest';

import { ADA, NOON, openTestStore, TEN } from './testing.ts';
import { changeUser, createUser, deleteUser, getUser } from './users.ts';

test('a change or deletion of another version gets 412, and changes nothing', async () => {
  const store = openTestStore();
  const ada = await createUser(store, ADA, { newId: () => 'ada', now: () => new Date(TEN) });

  const options = { updatedAt: new Date(NOON), ifVersion: 2 };
  const change = changeUser(store, 'ada', { name: 'Ada L.' }, options);
  const deletion = deleteUser(store, 'ada', 2);

  await expect(change).rejects.toMatchObject({ status: 412 });
  await expect(deletion).rejects.toMatchObject({ status: 412 });
  expect(await getUser(store, 'ada')).toEqual(ada);
});
