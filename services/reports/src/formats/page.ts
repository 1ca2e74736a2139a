import { createHash } from 'node:crypto';

import { Markup, markup } from '@fw/service';
import type { Column, Report, Row } from '../report.ts';
import { type Chart, drawChart } from './chart.ts';
import { formatCount, formatMoney } from './format.ts';
import { PAGE_STYLE } from './page-style.ts';

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
There are no statistics from ${missing.join(' and ')} at the moment.</p>`;
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
<h2>Statistics</h2>
<div class="scroll" tabindex="0" role="region" aria-label="Statistics">
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
