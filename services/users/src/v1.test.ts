import { quiet } from '@fw/core/testing';
import { sendTo } from '@fw/service/testing';
import { expect, test } from 'vitest';

import { createUsersApp } from './app.ts';
import { BODY_LIMIT } from './config.ts';
import { ADA, createTestApi, NOON, openTestStore, TEN } from './testing.ts';
import { describeUsersV1 } from './v1.test-suite.ts';

const USERS = '/api/v1/users';

describeUsersV1(() =>
  sendTo(createUsersApp({ store: openTestStore(), bodyLimit: BODY_LIMIT, logger: quiet })),
);

test('POST of a body that is larger than bodyLimit responds with 413', async () => {
  const { send } = createTestApi({ bodyLimit: 256 });

  const response = await send('POST', USERS, { ...ADA, name: 'a'.repeat(300) });

  expect(response.status).toBe(413);
});

test('PUT without a body updates updatedAt', async () => {
  const { clock, send } = createTestApi();
  await send('POST', USERS, ADA);
  clock.time = NOON;

  const response = await send('PUT', `${USERS}/u1`);

  const data = { id: 'u1', ...ADA, createdAt: TEN, updatedAt: NOON };
  expect(await response.json()).toEqual({ data });
});
