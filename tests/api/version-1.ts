import type { Api } from './requests.ts';

/** Why tests of version 1 are skipped. */
export const REMOVED = 'version 1 is removed from this system';

/** Whether version 1 is removed from a system, as `make up WITHOUT=v1` does. */
export async function isVersion1Removed(api: Api): Promise<boolean> {
  const response = await api.get('/api/v1/users?limit=1');
  await response.body?.cancel();
  return response.status === 410;
}
