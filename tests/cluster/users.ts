import assert from 'node:assert/strict';

import { type Api, readJson } from '../api/requests.ts';

/** Creates a user, and returns the acknowledged id. */
export async function createUser(api: Api): Promise<string> {
  const email = `${crypto.randomUUID()}@example.org`;
  const response = await api.send('POST', '/api/v2/users', { name: 'Kept', email });
  return (await readJson(response, 201)).data.id;
}

/** Asserts that every user can be read; 16 requests at a time. */
export async function assertUsersExist(api: Api, ids: readonly string[]): Promise<void> {
  const rest = ids.values();
  const readNext = async () => {
    for (const id of rest) {
      const response = await api.get(`/api/v1/users/${id}`);
      assert.equal(response.status, 200, await response.text());
    }
  };
  await Promise.all(Array.from({ length: 16 }, readNext));
}
