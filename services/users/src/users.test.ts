import { expect, test } from 'vitest';

import { ADA, NOON, openTestStore, TEN } from './testing.ts';
import { Users } from './users.ts';

test('a change or deletion of another version gets 412, and changes nothing', async () => {
  let time = TEN;
  const users = new Users(openTestStore(), { newId: () => 'ada', now: () => new Date(time) });
  const ada = await users.create(ADA);
  time = NOON;

  const change = users.change('ada', { name: 'Ada L.' }, { ifVersion: 2 });
  const removal = users.remove('ada', 2);

  await expect(change).rejects.toMatchObject({ status: 412 });
  await expect(removal).rejects.toMatchObject({ status: 412 });
  expect(await users.find('ada')).toEqual(ada);
});
