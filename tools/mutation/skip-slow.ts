import { readFileSync } from 'node:fs';

import { beforeEach } from 'vitest';

const slow = new Set<string>(JSON.parse(readFileSync(process.env.SLOW_TESTS!, 'utf8')));

beforeEach(({ task, skip }) => {
  if (slow.has(task.fullTestName)) skip('too slow to repeat for each mutant');
});
