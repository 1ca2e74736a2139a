import { expect, test } from 'vitest';

import { addOnTable, ratioTable, speedChart } from './section.ts';

test('ratioTable has a row per contestant, highest sum first, and ratios with two decimals', () => {
  const environment = { machine: '', node: '', date: '', versions: {} };
  const summaries = ['hello', 'parameter', 'post', 'list', 'middlewares'].flatMap((workload) => [
    { workload, contestant: 'slow', ratioToRaw: 0.5 },
    { workload, contestant: 'fast', ratioToRaw: 1.004 },
  ]);
  summaries.push({ workload: 'controller', contestant: 'add-on only', ratioToRaw: 2 });

  const rows = ratioTable({
    environment,
    settings: { rounds: 5 },
    summaries,
    addOnCosts: [],
  }).split('\n');

  expect(rows.slice(2).map((row) => row.split(/[ |]+/).filter(Boolean))).toEqual([
    ['fast', '1.00', '1.00', '1.00', '1.00', '1.00'],
    ['slow', '0.50', '0.50', '0.50', '0.50', '0.50'],
  ]);
});

test('addOnTable has a row per add-on, and an empty cell per missing one', () => {
  const addOnCosts = [
    { workload: 'controller', contestant: 'other', bareMicros: 20, costMicros: 9 },
    { workload: 'validated', contestant: 'fast', bareMicros: 20, costMicros: 1.004 },
    { workload: 'limited', contestant: 'fast', bareMicros: 20, costMicros: 3 },
  ];

  const [head = '', , ...rows] = addOnTable({ addOnCosts }).split('\n');

  const cellsOf = (row: string) => row.split('|').map((cell) => cell.trim());
  expect(cellsOf(head)).toEqual(['', '', 'fast', 'other', '']);
  expect(rows.slice(0, 4).map(cellsOf)).toEqual([
    ['', 'validated', '1.00 (5 %)', '', ''],
    ['', 'limited', '3.00 (15 %)', '', ''],
    ['', 'observed', '', '', ''],
    ['', 'controller', '', '9.00 (45 %)', ''],
  ]);
});

test('speedChart has a bar per contestant with all common workloads, highest first', () => {
  const summaries = ['hello', 'parameter', 'post', 'list', 'middlewares'].flatMap((workload) => [
    { workload, contestant: 'raw', ratioToRaw: 1 },
    { workload, contestant: 'fw', ratioToRaw: 1.02 },
  ]);
  summaries.push({ workload: 'hello', contestant: 'partial', ratioToRaw: 2 });

  const labels = [...speedChart({ summaries }).matchAll(/text-anchor="end">([^<]+)</g)];

  expect(labels.map(([, label]) => label)).toEqual(['fw', 'node:http']);
});
