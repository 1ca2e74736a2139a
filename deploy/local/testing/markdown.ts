import { readFileSync, writeFileSync } from 'node:fs';

/** A Markdown table with padded cells: the first column is left-aligned, the others right-aligned. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const widths = head.map((title, column) =>
    Math.max(3, title.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => pad(cells[column] ?? '', width, column)).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}

function pad(text: string, width: number, column: number): string {
  return column === 0 ? text.padEnd(width) : text.padStart(width);
}

/**
 * Replaces the text between `<!-- name -->` and `<!-- /name -->`.
 *
 * @throws {RangeError} if the text has no such marks
 */
export function replaceSection(text: string, name: string, section: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const [from, to] = [text.indexOf(start), text.indexOf(end)];
  if (from === -1 || to === -1) throw new RangeError(`Cannot find ${start} and ${end}`);
  return `${text.slice(0, from + start.length)}\n\n${section}\n\n${text.slice(to)}`;
}

/** Writes the section `name` of a Markdown file: for programs whose measurements differ from run to run. */
export function writeSection(file: string, name: string, section: string): void {
  writeFileSync(file, replaceSection(readFileSync(file, 'utf8'), name, section));
}
