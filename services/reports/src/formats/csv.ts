import type { Cell, Column, Report } from '../report.ts';

/**
 * A report as CSV with a header line (RFC 4180). If figures are missing, the last record names their
 * sources, because a saved file has no HTTP headers.
 */
export function toCsv({ columns, rows, missing }: Report): string {
  const records: (readonly Cell[])[] = [
    columns.map(({ name }) => name),
    ...rows.map((row) => columns.map(({ name }) => row[name] ?? '')),
  ];
  if (missing.length > 0) records.push(lastRecord(columns, `missing: ${missing.join(', ')}`));
  return records.map((record) => `${record.map(writeField).join(',')}\r\n`).join('');
}

function lastRecord(columns: readonly Column[], text: string): string[] {
  return columns.map((_, index) => (index === 0 ? text : ''));
}

/**
 * An apostrophe prevents a spreadsheet from evaluating text as a formula. Some spreadsheets ignore
 * leading blanks and invisible characters, treat full-width signs such as `＝` as `=`, or split at `;`
 * and tabs.
 */
function writeField(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const isFormula = /^[\s\p{C}]*[=+\-@]|^[\t\r\n]/u.test(cell.normalize('NFKC'));
  const text = isFormula ? `'${cell}` : cell;
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
