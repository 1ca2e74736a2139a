import { createHash } from 'node:crypto';

import { Markup, markup } from '@fw/service';
import type { Chart, Column, Report, Row } from '../report.ts';
import { drawChart } from './chart.ts';
import { formatCount, formatMoney } from './format.ts';

/** The style of the page: from 320 pixels, light, dark and print. */
const PAGE_STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f4f4f8, #121217);
  --card: light-dark(#fff, #1c1c24);
  --line: light-dark(#e2e2ea, #33333f);
  --text: light-dark(#1b1b24, #ececf2);
  --quiet: light-dark(#5c5c6b, #a5a5b5);
  --accent: light-dark(#5b4be1, #9a8fff);
  --track: light-dark(#ececf4, #2a2a36);
  --warning: light-dark(#fff3d6, #3a2e0f);
  --warning-line: light-dark(#e0a100, #c79a2a);
}
* { box-sizing: border-box; margin: 0; }
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
main { max-width: 60rem; margin: 0 auto; padding: clamp(1rem, 4vw, 3rem) clamp(.75rem, 4vw, 2rem); display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); }
header { padding: 0 .25rem .5rem; }
h1 { font-size: clamp(1.6rem, 1.2rem + 2vw, 2.25rem); line-height: 1.2; letter-spacing: -.02em; overflow-wrap: anywhere; }
h2 { font-size: 1.05rem; line-height: 1.3; margin-bottom: 1rem; }
header p { margin-top: .5rem; color: var(--quiet); max-width: 40rem; }
header .made { font-size: .875rem; }
section { background: var(--card); border: 1px solid var(--line); border-radius: 12px; padding: clamp(1rem, 3vw, 1.5rem); }
.missing { background: var(--warning); border-left: 4px solid var(--warning-line); border-radius: 8px; padding: .75rem 1rem; }
.chart { display: block; }
.chart, .chart svg { overflow: visible; }
.chart text { font: 13px system-ui, sans-serif; fill: var(--text); font-variant-numeric: tabular-nums; }
.chart .tick { font-size: 12px; fill: var(--quiet); }
.chart .value { font-weight: 600; }
.ranges .label, .ranges .value { paint-order: stroke; stroke: var(--card); stroke-width: 5px; stroke-linejoin: round; }
.days { padding-left: 2.75rem; padding-right: .5rem; }
.bar, .dot { fill: var(--accent); }
.range { fill: var(--accent); opacity: .4; }
.dot { stroke: var(--card); stroke-width: 2; }
.track { fill: var(--track); }
.grid { stroke: var(--line); }
.legend { margin-top: .5rem; font-size: .875rem; color: var(--quiet); }
.scroll { overflow-x: auto; }
.scroll:focus-visible { outline: 2px solid var(--accent); outline-offset: 4px; }
table { width: 100%; border-collapse: collapse; font-size: clamp(.8125rem, .75rem + .4vw, .9375rem); font-variant-numeric: tabular-nums; }
th, td { padding: .5rem clamp(.375rem, 2vw, .75rem); text-align: left; border-bottom: 1px solid var(--line); }
th:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
tbody th { font-weight: 400; min-width: 4.5rem; overflow-wrap: anywhere; }
tbody tr:last-child > * { border-bottom: 0; }
thead th { font-size: .8125rem; font-weight: 600; color: var(--quiet); }
.count, .money { text-align: right; white-space: nowrap; }
@media print { body { background: none; } section { break-inside: avoid; } }
`;

/** The content security policy of the page: only its own style is allowed. */
export const PAGE_POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(PAGE_STYLE).digest('base64')}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** A report as a self-contained HTML page: charts, and a table with all rows. */
export function toPage(report: Report): string {
  const { title, description, generatedAt, charts, rows, missing } = report;
  const madeAt = generatedAt.toISOString();
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header>
<h1>${title}</h1>
<p>${description}</p>
<p class="made">Made on <time datetime="${madeAt}">${madeAt.slice(0, 10)} at ${madeAt.slice(11, 16)} UTC</time></p>
</header>
${missing.length > 0 ? warning(missing) : undefined}
${charts.map(chartSection)}
${rows.length > 0 ? tableSection(report) : undefined}
</main>
</body>
</html>
`.toString();
}

/** Used without changes, because the policy contains its hash. */
const STYLE = new Markup(PAGE_STYLE);

function warning(missing: readonly string[]): Markup {
  return markup`<p class="missing" role="status"><strong>This report is partial.</strong>
There are no figures from ${missing.join(' and ')} at the moment.</p>`;
}

function chartSection(chart: Chart, index: number): Markup {
  return markup`<section>
<h2>${chart.title}</h2>
${drawChart(chart, `chart-${index + 1}`)}
${chart.kind === 'ranges' ? markup`<p class="legend">From the lowest price to the highest, on a logarithmic scale; the dot is the median.</p>` : undefined}
</section>
`;
}

function tableSection({ columns: all, rows }: Report): Markup {
  // The money columns show the currency.
  const columns = all.filter(({ kind }) => kind !== 'currency');
  return markup`<section>
<h2>Figures</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Figures">
<table>
<thead><tr>${columns.map(({ title, kind }) => markup`<th scope="col" class="${kind}">${title}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => tableRow(columns, row))}</tbody>
</table>
</div>
</section>
`;
}

function tableRow(columns: readonly Column[], row: Row): Markup {
  const cells = columns.map((column, index) => {
    const text = cellText(column, row);
    return index === 0
      ? markup`<th scope="row">${text}</th>`
      : markup`<td class="${column.kind}">${text}</td>`;
  });
  return markup`<tr>${cells}</tr>
`;
}

function cellText({ name, kind }: Column, row: Row): string {
  const cell = row[name] ?? '';
  if (typeof cell === 'string') return cell;
  return kind === 'money' ? formatMoney(cell, String(row.currency)) : formatCount(cell);
}
