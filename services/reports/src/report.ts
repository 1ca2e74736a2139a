import {
  type CatalogFigures,
  type Figures,
  SOURCES,
  type Source,
  type UserFigures,
} from './figures.ts';

/** The entry of a report in the list. */
export interface ReportSummary {
  readonly id: string;
  readonly title: string;
  readonly description: string;
}

/** The types of a column's cells; `money` is in cents of the `currency` in the same row. */
export const COLUMN_KINDS = ['text', 'date', 'count', 'money', 'currency'] as const;

export interface Column {
  /** The name of the cells in each row. */
  readonly name: string;
  readonly title: string;
  readonly kind: (typeof COLUMN_KINDS)[number];
}

export type Cell = string | number;
export type Row = Readonly<Record<string, Cell>>;

/** The data of a chart: counts per day, one value per name, or a range per name. */
export type Chart = DaysChart | BarsChart | RangesChart;

export interface DaysChart {
  readonly kind: 'days';
  readonly title: string;
  readonly days: readonly { readonly date: string; readonly value: number }[];
}

export interface BarsChart {
  readonly kind: 'bars';
  readonly title: string;
  /** The longest first. */
  readonly bars: readonly { readonly label: string; readonly value: number }[];
}

export interface RangesChart {
  readonly kind: 'ranges';
  readonly title: string;
  /** All values are in its cents. */
  readonly currency: string;
  readonly ranges: readonly Range[];
}

interface Range {
  readonly label: string;
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** The rows and charts of a report that come from one source. */
export interface ReportPart {
  readonly rows: readonly Row[];
  readonly charts: readonly Chart[];
}

/** Defines a report: its columns, and its part from each source that it uses. */
export interface ReportKind extends ReportSummary {
  readonly columns: readonly Column[];
  users?(figures: UserFigures): ReportPart;
  catalog?(figures: CatalogFigures): ReportPart;
}

/** A report, generated at one moment. */
export interface Report extends ReportSummary {
  readonly generatedAt: Date;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  readonly charts: readonly Chart[];
  /** The sources whose figures are missing. */
  readonly missing: readonly Source[];
}

/** The sources whose figures a report needs. */
export function sourcesOf(kind: ReportKind): readonly Source[] {
  return SOURCES.filter((source) => kind[source] !== undefined);
}

/** Generates a report from the available figures. */
export function createReport(
  kind: ReportKind,
  { users, catalog }: Figures,
  generatedAt: Date,
): Report {
  const { id, title, description, columns } = kind;
  const parts = {
    users: users && kind.users?.(users),
    catalog: catalog && kind.catalog?.(catalog),
  };
  const all = SOURCES.flatMap((source) => parts[source] ?? []);
  return {
    id,
    title,
    description,
    generatedAt,
    columns,
    rows: all.flatMap(({ rows }) => rows),
    charts: all.flatMap(({ charts }) => charts),
    missing: sourcesOf(kind).filter((source) => parts[source] === undefined),
  };
}
