import { beforeEach } from 'vitest';

import { readTarget } from '../target.ts';
import { isVersion1Removed, REMOVED } from '../version-1.ts';

/** The contract is that of version 1. */
const isRemoved = await isVersion1Removed(readTarget().api);

beforeEach(({ skip }) => skip(isRemoved, REMOVED));
