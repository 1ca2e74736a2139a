/** The style of the page: from 320 pixels, light, dark and print. */
export const PAGE_STYLE = `
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
