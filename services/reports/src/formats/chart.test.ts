import { expect, test } from 'vitest';

import type { Chart } from '../report.ts';
import { drawChart } from './chart.ts';

const draw = (chart: Chart) => drawChart(chart, 'c').toString();

function day(date: string, value: number) {
  return { date, value };
}

test('a chart of days contains the sum, the peak and a label per bar', () => {
  const days = [day('2026-11-20', 3), day('2026-11-21', 9)];

  const svg = draw({ kind: 'days', title: 'New users', days });

  expect(svg).toContain('role="img" aria-labelledby="c-title c-desc"');
  expect(svg).toContain('<title id="c-title">New users</title>');
  expect(svg).toContain(
    '<desc id="c-desc">12 from 2026-11-20 to 2026-11-21; at most 9 a day, on 2026-11-21.</desc>',
  );
  expect(svg).toContain('<title>20 Nov: 3</title>');
  expect(svg.match(/class="bar"/g)).toHaveLength(2);
});

test.each([
  [0, ['0', '1']],
  [1, ['0', '1']],
  [3, ['0', '1', '2', '3']],
  [7, ['0', '2', '4', '6', '8']],
  [71, ['0', '20', '40', '60', '80']],
  [100, ['0', '50', '100']],
  [401, ['0', '200', '400', '600']],
  [1_200_000, ['0', '500K', '1M', '1.5M']],
])('the scale for at most %d a day has round numbers', (max, ticks) => {
  const svg = draw({ kind: 'days', title: 'New users', days: [day('2026-11-21', max)] });

  const labels = [...svg.matchAll(/class="tick"[^>]*text-anchor="end">([^<]+)</g)];
  expect(labels.map(([, label]) => label)).toEqual(ticks);
});

test('bar lengths are proportional to the values', () => {
  const bars = [
    { label: 'a', value: 8 },
    { label: 'b', value: 2 },
  ];

  const svg = draw({ kind: 'bars', title: 'Items', bars });

  const widths = [...svg.matchAll(/class="bar"[^>]*width="([^"]+)"/g)];
  expect(widths.map(([, width]) => width)).toEqual(['100%', '25%']);
});

test('the price scale spans whole powers of ten', () => {
  const ranges = [{ label: 'a', low: 1_000, middle: 1_000, high: 100_000 }];

  const svg = draw({ kind: 'ranges', title: 'Prices', currency: 'EUR', ranges });

  const ticks = [...svg.matchAll(/class="tick"[^>]*>([^<]+)</g)];
  expect(ticks.map(([, label]) => label)).toEqual(['€10', '€100', '€1K']);
  expect(svg).toMatch(/class="range" x="0%"[^>]* width="100%"/);
  expect(svg).toMatch(/class="dot" cx="0%"/);
  expect(svg).toContain('€10.00 – €1,000.00');
});

test('a long list is truncated, and the chart shows the number of omitted entries', () => {
  const bars = Array.from({ length: 1_025 }, (_, index) => ({ label: `c${index}`, value: 1 }));

  const svg = draw({ kind: 'bars', title: 'Items', bars });

  expect(svg.match(/class="bar"/g)).toHaveLength(20);
  expect(svg).toContain('1,005 more are in the table.');
});

test('a long name is shortened in the drawing and complete in its title', () => {
  const label = `${'x'.repeat(60)}<b>`;

  const svg = draw({ kind: 'bars', title: 'Items', bars: [{ label, value: 1 }] });

  expect(svg).toContain(`<title>${'x'.repeat(60)}&lt;b&gt;: 1</title>`);
  expect(svg).toContain(`>${'x'.repeat(31)}…</text>`);
});
