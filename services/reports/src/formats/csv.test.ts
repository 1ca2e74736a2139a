import { expect, test } from 'vitest';
import type { Cell, Report } from '../report.ts';
import { toCsv } from './csv.ts';

function reportOf(cells: readonly Cell[]): Report {
  return {
    id: 'report',
    title: 'Report',
    description: 'A report.',
    generatedAt: new Date(0),
    columns: [{ name: 'cell', title: 'Cell', kind: 'text' }],
    rows: cells.map((cell) => ({ cell })),
    charts: [],
    missing: [],
  };
}

test.each<[Cell, string]>([
  ['plain', 'plain'],
  ['', ''],
  ['a,b', '"a,b"'],
  ['say "hi"', '"say ""hi"""'],
  ['two\nlines', '"two\nlines"'],
  ['two\rlines', '"two\rlines"'],
  [7, '7'],
  [-7, '-7'],
  ['=1+1', "'=1+1"],
  ['+1', "'+1"],
  ['-1', "'-1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['\t=1', '"\'\t=1"'],
  ['\n=1', '"\'\n=1"'],
  ['\ttext', '"\'\ttext"'],
  [' =1', "' =1"],
  ['\u00a0=1', "'\u00a0=1"],
  ['\u3000=1', "'\u3000=1"],
  ['\ufeff=1', "'\ufeff=1"],
  ['\u200b=1', "'\u200b=1"],
  ['\0=1', "'\0=1"],
  ['＝1+1', "'＝1+1"],
  ['＋1', "'＋1"],
  ['－1', "'－1"],
  ['＠SUM(A1)', "'＠SUM(A1)"],
  [' ＝1+1', "' ＝1+1"],
  ['﹦1', "'﹦1"],
  ['a;=1+1', '"a;=1+1"'],
  ['a\t=1+1', '"a\t=1+1"'],
  [' plain', ' plain'],
  ['a＝1', 'a＝1'],
  ['\r=1', '"\'\r=1"'],
  ['=HYPERLINK("http://x","y")', '"\'=HYPERLINK(""http://x"",""y"")"'],
  ['a=1', 'a=1'],
])('the cell %j is written %j', (cell, field) => {
  expect(toCsv(reportOf([cell]))).toBe(`cell\r\n${field}\r\n`);
});
