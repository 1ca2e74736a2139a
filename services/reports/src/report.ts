import type { Chart } from './formats/chart.ts';
import type { Source, Statistics } from './statistics/statistics.ts';

/** The entry of a report in the list. */
export interface ReportSummary {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** The type of a column's cells; `money` is in cents of the `currency` in the same row. */
export type ColumnKind = 'text' | 'date' | 'count' | 'money' | 'currency';

export interface Column {
  /** The name of the cells in each row. */
  readonly name: string;
  readonly title: string;
  readonly kind: ColumnKind;
}

export type Cell = string | number;
export type Row = Readonly<Record<string, Cell>>;

/** Defines a report. `rows` and `charts` omit sources without statistics. */
export interface ReportKind extends ReportSummary {
  readonly sources: readonly Source[];
  readonly columns: readonly Column[];
  rows(statistics: Statistics): readonly Row[];
  charts(statistics: Statistics): readonly Chart[];
}

/** A report, generated at one moment. */
export interface Report extends ReportSummary {
  readonly generatedAt: Date;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly charts: readonly Chart[];
  /** The sources whose statistics are missing. */
  readonly missing: readonly Source[];
}

/** Generates a report from the available statistics. */
export function createReport(kind: ReportKind, statistics: Statistics, generatedAt: Date): Report {
  const { id, title, description, sources, columns } = kind;
  return {
    id,
    title,
    description,
    generatedAt,
    columns,
    rows: kind.rows(statistics).map((row) => cellsOf(row, columns)),
    charts: kind.charts(statistics),
    missing: sources.filter((source) => statistics[source] === undefined),
  };
}

/** The cells of the columns: statistics may have other fields. */
function cellsOf(row: Row, columns: readonly Column[]): Row {
  const names = columns.map(({ name }) => name).filter((name) => row[name] !== undefined);
  return Object.fromEntries(names.map((name) => [name, row[name] as Cell]));
}
