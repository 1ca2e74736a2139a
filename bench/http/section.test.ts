import { expect, test } from 'vitest';

import { priceTable, ratioTable, speedChart } from './section.ts';

test('the table has a row per contestant, the best sum first, and two digits a ratio', () => {
  const environment = { machine: '', node: '', date: '', versions: {} };
  const summaries = ['hello', 'parameter', 'post', 'list', 'middlewares'].flatMap((workload) => [
    { workload, contestant: 'slow', ratioToRaw: 0.5 },
    { workload, contestant: 'fast', ratioToRaw: 1.004 },
  ]);
  summaries.push({ workload: 'controller', contestant: 'add-on only', ratioToRaw: 2 });

  const rows = ratioTable({ environment, settings: { rounds: 5 }, summaries, prices: [] }).split(
    '\n',
  );

  expect(rows.slice(2).map((row) => row.split(/[ |]+/).filter(Boolean))).toEqual([
    ['fast', '1.00', '1.00', '1.00', '1.00', '1.00'],
    ['slow', '0.50', '0.50', '0.50', '0.50', '0.50'],
  ]);
});

test('the prices have a row per contestant, the lowest first, and a gap where there is no add-on', () => {
  const prices = [
    { workload: 'controller', contestant: 'other', priceMicros: 9 },
    { workload: 'validated', contestant: 'slow', priceMicros: 2 },
    { workload: 'validated', contestant: 'fast', priceMicros: 1.004 },
    { workload: 'limited', contestant: 'fast', priceMicros: 3 },
  ];

  const rows = priceTable({ prices }).split('\n').slice(2);

  expect(rows.map((row) => row.split('|').map((cell) => cell.trim()))).toEqual([
    ['', 'fast', '1.00', '3.00', '', '', ''],
    ['', 'slow', '2.00', '', '', '', ''],
    ['', 'other', '', '', '', '9.00', ''],
  ]);
});

test('the chart has a bar per contestant with all common workloads, the best first', () => {
  const summaries = ['hello', 'parameter', 'post', 'list', 'middlewares'].flatMap((workload) => [
    { workload, contestant: 'raw', ratioToRaw: 1 },
    { workload, contestant: 'fw', ratioToRaw: 1.02 },
  ]);
  summaries.push({ workload: 'hello', contestant: 'partial', ratioToRaw: 2 });

  const labels = [...speedChart({ summaries }).matchAll(/text-anchor="end">([^<]+)</g)];

  expect(labels.map(([, label]) => label)).toEqual(['fw', 'node:http']);
});
