const CLIENTS = 32;

/** Creates `count` users with a name of 200 characters: their list has many bytes. */
export async function createUsers(origin: string, count: number): Promise<void> {
  const body = JSON.stringify({ name: 'x'.repeat(200), email: 'ada@example.org' });
  const headers = { 'content-type': 'application/json' };
  let left = count;
  const create = async () => {
    while (left-- > 0) {
      const response = await fetch(`${origin}/api/v1/users`, { method: 'POST', headers, body });
      if (!response.ok) throw new Error(`POST /api/v1/users: ${response.status}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, create));
}
