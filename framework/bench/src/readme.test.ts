import { expect, test } from 'vitest';

import { ratioTable } from './readme.ts';

test('the table has a row per contestant, the best sum first, and two digits a ratio', () => {
  const environment = { machine: '', node: '', date: '', versions: {} };
  const summaries = ['hello', 'parameter', 'post', 'list', 'middlewares'].flatMap((workload) => [
    { workload, contestant: 'slow', ratioToRaw: 0.5 },
    { workload, contestant: 'fast', ratioToRaw: 1.004 },
  ]);

  const rows = ratioTable({ environment, settings: { rounds: 5 }, summaries }).split('\n');

  expect(rows.slice(2).map((row) => row.split(/[ |]+/).filter(Boolean))).toEqual([
    ['fast', '1.00', '1.00', '1.00', '1.00', '1.00'],
    ['slow', '0.50', '0.50', '0.50', '0.50', '0.50'],
  ]);
});
