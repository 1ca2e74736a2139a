/** One bar of a chart. */
export interface Bar {
  readonly label: string;
  readonly value: number;
}

export interface ChartOptions {
  readonly title: string;
  /** The bar that is emphasised. */
  readonly emphasis: string;
}

const WIDTH = 720;
const BAR_HEIGHT = 24;
const GAP = 8;
const TOP = 44;
const LABEL_WIDTH = 90;
const VALUE_WIDTH = 60;

const STYLE = `
    text { font: 14px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600 }
    rect { fill: #8c959f } .emphasis { fill: #0969da }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 } rect { fill: #6e7681 } .emphasis { fill: #4493f8 }
    }`;

/** A horizontal bar chart as SVG, for light and dark backgrounds. */
export function barChart(bars: readonly Bar[], { title, emphasis }: ChartOptions): string {
  const largest = Math.max(...bars.map(({ value }) => value));
  const height = TOP + bars.length * (BAR_HEIGHT + GAP);
  const rows = bars.map(({ label, value }, index) => {
    const y = TOP + index * (BAR_HEIGHT + GAP);
    const width = (value / largest) * (WIDTH - LABEL_WIDTH - VALUE_WIDTH);
    const className = label === emphasis ? ' class="emphasis"' : '';
    return [
      `  <text x="${LABEL_WIDTH - 10}" y="${y + 17}" text-anchor="end">${label}</text>`,
      `  <rect x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="3"${className}/>`,
      `  <text x="${(LABEL_WIDTH + width + 8).toFixed(1)}" y="${y + 17}">${value.toFixed(2)}</text>`,
    ].join('\n');
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${title}">
  <style>${STYLE}
  </style>
  <text x="0" y="20" class="title">${title}</text>
${rows.join('\n')}
</svg>
`;
}
