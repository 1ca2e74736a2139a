const CLIENTS = 32;

export interface CreateUsersOptions {
  readonly count: number;
  /** Default: 200 characters, so that their list has many bytes. */
  readonly name?: string;
}

/** Creates users, and returns their ids. */
export async function createUsers(
  origin: string,
  { count, name = 'x'.repeat(200) }: CreateUsersOptions,
): Promise<string[]> {
  const body = JSON.stringify({ name, email: 'ada@example.org' });
  const headers = { 'content-type': 'application/json' };
  const ids: string[] = [];
  let left = count;
  const create = async () => {
    while (left-- > 0) {
      const response = await fetch(`${origin}/api/v1/users`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`POST /api/v1/users: ${response.status}`);
      const { data } = (await response.json()) as { data: { id: string } };
      ids.push(data.id);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, create));
  return ids;
}
