import { type Markup, markup } from '@fw/service';

import type { BarsChart, Chart, DaysChart, RangesChart } from '../report.ts';
import { formatCount, formatDay, formatMoney, formatMoneyTick, formatTick } from './format.ts';

/** The number of drawn entries; the table contains all. */
const MAX_ROWS = 20;
const ROW_PX = 44;
const MAX_LABEL_LENGTH = 32;

/**
 * Draws `chart` as SVG. Lengths along the x axis are percentages and all others pixels, so that it
 * fills any width while the size of its text does not change. `id` is unique on the page.
 */
export function drawChart(chart: Chart, id: string): Markup {
  if (chart.kind === 'days') return drawDays(chart, id);
  return chart.kind === 'bars' ? drawBars(chart, id) : drawRanges(chart, id);
}

function drawDays({ title, days }: DaysChart, id: string): Markup {
  const top = 20;
  const bottom = 180;
  const max = Math.max(...days.map(({ value }) => value));
  const ticks = ticksFor(max);
  const yOf = (value: number) => bottom - ((bottom - top) * value) / (ticks.at(-1) ?? 1);
  const slot = 100 / days.length;
  const first = days[0]?.date ?? '';
  const last = days.at(-1)?.date ?? '';
  const peak = days.findIndex(({ value }) => value === max);

  const grid = ticks.map(
    (tick) => markup`<line class="grid" x1="0" x2="100%" y1="${yOf(tick)}" y2="${yOf(tick)}"/>
<text class="tick" x="-8" y="${yOf(tick) + 4}" text-anchor="end">${formatTick(tick)}</text>
`,
  );
  const bars = days.map(
    ({ date, value }, index) => markup`<rect class="bar" x="${percent(
      slot * (index + 0.12),
    )}" width="${percent(slot * 0.76)}" y="${yOf(value)}" height="${bottom - yOf(value)}" rx="2">
<title>${formatDay(date)}: ${formatCount(value)}</title></rect>
`,
  );
  const labels = days.map(({ date }, index) =>
    // A day a week has a label, and the last one.
    (days.length - 1 - index) % 7 === 0
      ? markup`<text class="tick" x="${percent(slot * (index + 0.5))}" y="${bottom + 18}" text-anchor="middle">${formatDay(date)}</text>
`
      : markup``,
  );
  const mark =
    max > 0
      ? markup`<text class="value" x="${percent(slot * (peak + 0.5))}" y="${
          yOf(max) - 6
        }" text-anchor="middle">${formatCount(max)}</text>
`
      : markup``;
  const sum = days.reduce((total, { value }) => total + value, 0);
  const desc = `${formatCount(sum)} from ${first} to ${last}; at most ${formatCount(max)} a day, on ${days[peak]?.date}.`;
  return svg({ id, title, desc, heightPx: bottom + 28, kind: 'days' }, [
    ...grid,
    ...bars,
    ...labels,
    mark,
  ]);
}

function drawBars({ title, bars }: BarsChart, id: string): Markup {
  const shown = bars.slice(0, MAX_ROWS);
  const max = Math.max(...shown.map(({ value }) => value), 1);
  const rows = shown.map(({ label, value }, index) =>
    drawRow(
      { label, value: formatCount(value), index },
      markup`<rect class="track" x="0" y="0" width="100%" height="10" rx="3"/>
<rect class="bar" x="0" y="0" width="${percent((100 * value) / max)}" height="10" rx="3"/>`,
    ),
  );
  const [first] = shown;
  const most = first
    ? `${first.label} has the most: ${formatCount(first.value)}.`
    : 'There is nothing yet.';
  const desc = `${most}${restOf(bars)}`;
  return svg({ id, title, desc, heightPx: rowsHeight(shown), kind: 'bars' }, rows);
}

/** On a logarithmic scale, because prices span several powers of ten. */
function drawRanges({ title, currency, ranges }: RangesChart, id: string): Markup {
  const shown = ranges.slice(0, MAX_ROWS);
  const height = rowsHeight(shown);
  const from = Math.floor(logOf(Math.min(...shown.map(({ low }) => low))));
  const to = Math.max(from + 1, Math.ceil(logOf(Math.max(...shown.map(({ high }) => high)))));
  const xOf = (cents: number) => (100 * (logOf(cents) - from)) / (to - from);
  const money = (cents: number) => formatMoney(cents, currency);

  const grid = Array.from({ length: to - from + 1 }, (_, index) => {
    const x = percent((100 * index) / (to - from));
    const anchor = index === 0 ? 'start' : index === to - from ? 'end' : 'middle';
    return markup`<line class="grid" x1="${x}" x2="${x}" y1="0" y2="${height}"/>
<text class="tick" x="${x}" y="${height + 18}" text-anchor="${anchor}">${formatMoneyTick(10 ** (from + index), currency)}</text>
`;
  });
  const rows = shown.map(({ label, low, middle, high }, index) =>
    drawRow(
      { label, value: `${money(low)} – ${money(high)}`, index },
      markup`<rect class="range" x="${percent(xOf(low))}" y="2" width="${percent(
        xOf(high) - xOf(low),
      )}" height="6" rx="3"/>
<circle class="dot" cx="${percent(xOf(middle))}" cy="5" r="6"><title>Median: ${money(middle)}</title></circle>`,
    ),
  );
  const desc = `Each bar goes from the lowest price to the highest on a logarithmic scale; the dot is the median.${restOf(ranges)}`;
  return svg({ id, title, desc, heightPx: height + 24, kind: 'ranges' }, [...grid, ...rows]);
}

/** The logarithmic scale begins at one cent. */
function logOf(cents: number): number {
  return Math.log10(Math.max(1, cents));
}

/** A name and its value, with a bar of 10 pixels below. */
function drawRow(
  { label, value, index }: { label: string; value: string; index: number },
  drawing: Markup,
): Markup {
  return markup`<svg y="${index * ROW_PX}" width="100%" height="${ROW_PX}">
<title>${label}: ${value}</title>
<text class="label" x="0" y="15">${shorten(label)}</text>
<text class="value" x="100%" y="15" text-anchor="end">${value}</text>
<svg y="23" width="100%" height="10">${drawing}</svg>
</svg>
`;
}

interface Frame {
  readonly id: string;
  readonly title: string;
  readonly desc: string;
  readonly heightPx: number;
  readonly kind: Chart['kind'];
}

function svg({ id, title, desc, heightPx, kind }: Frame, content: readonly Markup[]): Markup {
  return markup`<svg class="chart ${kind}" role="img" aria-labelledby="${id}-title ${id}-desc" width="100%" height="${heightPx}">
<title id="${id}-title">${title}</title>
<desc id="${id}-desc">${desc}</desc>
${content}</svg>`;
}

/** At most five round numbers from 0 to at least `max`. */
function ticksFor(max: number): number[] {
  const magnitude = 10 ** Math.floor(Math.log10(Math.max(max, 4) / 4));
  const steps = [1, 2, 5, 10].map((factor) => Math.max(1, factor * magnitude));
  const step = steps.find((size) => size * 4 >= max) ?? magnitude * 10;
  const count = Math.max(1, Math.ceil(max / step));
  return Array.from({ length: count + 1 }, (_, index) => index * step);
}

function rowsHeight({ length }: readonly unknown[]): number {
  return Math.max(0, length * ROW_PX - 8);
}

function percent(share: number): string {
  return `${Number(share.toFixed(3))}%`;
}

function shorten(label: string): string {
  const characters = [...label];
  return characters.length > MAX_LABEL_LENGTH
    ? `${characters.slice(0, MAX_LABEL_LENGTH - 1).join('')}…`
    : label;
}

function restOf({ length }: readonly unknown[]): string {
  return length > MAX_ROWS ? ` ${formatCount(length - MAX_ROWS)} more are in the table.` : '';
}
