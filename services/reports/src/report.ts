import type { Chart } from './chart.ts';
import type { Figures, Source } from './figures.ts';

/** What is known of a report before it is made. */
export interface ReportSummary {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** What a column holds; `money` is in cents of the `currency` in the same row. */
export type ColumnKind = 'text' | 'date' | 'count' | 'money' | 'currency';

export interface Column {
  /** The name of the cells in each row. */
  readonly name: string;
  readonly title: string;
  readonly kind: ColumnKind;
}

export type Cell = string | number;
export type Row = Readonly<Record<string, Cell>>;

/** How to make a report of figures; where those of a source are missing, without them. */
export interface ReportKind extends ReportSummary {
  readonly sources: readonly Source[];
  readonly columns: readonly Column[];
  rows(figures: Figures): readonly Row[];
  charts(figures: Figures): readonly Chart[];
}

/** A report as it was made at one moment. */
export interface Report extends ReportSummary {
  readonly generatedAt: Date;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly charts: readonly Chart[];
  /** The sources whose figures it should hold and does not. */
  readonly missing: readonly Source[];
}

/** Makes a report of what there is. */
export function makeReport(kind: ReportKind, figures: Figures, generatedAt: Date): Report {
  const { id, title, description, sources, columns } = kind;
  return {
    id,
    title,
    description,
    generatedAt,
    columns,
    rows: kind.rows(figures),
    charts: kind.charts(figures),
    missing: sources.filter((source) => figures[source] === undefined),
  };
}
