import { beforeEach } from 'vitest';

import { readTarget } from '../target.ts';

/** Whether version 1 is removed, as `make up WITHOUT=v1` does: the contract is that of version 1. */
const response = await readTarget().api.get('/api/v1/users?limit=1');
await response.body?.cancel();
const isRemoved = response.status === 410;

beforeEach(({ skip }) => skip(isRemoved, 'version 1 is removed from this system'));
