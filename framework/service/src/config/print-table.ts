/** The width of a table: a common terminal. */
const COLUMNS = 100;

/**
 * Writes rows below each other, each column as wide as its widest cell; the last one goes on in
 * lines of its own where a terminal ends.
 */
export function printTable(rows: readonly (readonly string[])[], indent = ''): string {
  const last = Math.max(...rows.map((row) => row.length)) - 1;
  const widths = Array.from({ length: last }, (_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  const margin = indent + widths.map((width) => ' '.repeat(width + 2)).join('');
  const lines = rows.flatMap((row) => {
    const head = widths.map((width, column) => (row[column] ?? '').padEnd(width + 2)).join('');
    const [first = '', ...rest] = wrap(row[last] ?? '', COLUMNS - margin.length);
    return [indent + head + first, ...rest.map((text) => margin + text)];
  });
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** `text` in lines of at most `columns`, broken between words. */
function wrap(text: string, columns: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
