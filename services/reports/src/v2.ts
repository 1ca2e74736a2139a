import { negotiate } from '@fw/middleware/negotiate';
import { type Context, createRouter, endpoint, NotFoundError, type Router } from 'fw';

import type { Protection } from './authentication.ts';
import { toCsv } from './formats/csv.ts';
import { PAGE_POLICY, toPage } from './formats/page.ts';
import type { ReadFigures } from './read-figures.ts';
import { createReport, type Report, type ReportKind, sourcesOf } from './report.ts';
import { REPORT_KINDS } from './report-kinds.ts';
import { ReportList, ReportResponse } from './schemas.ts';

/** The path prefix of version 2. */
export const V2 = '/api/v2/reports';

export interface ReportRoutesV2Options extends Protection {
  readonly readFigures: ReadFigures;
  readonly now: () => Date;
}

const TYPES = ['application/json', 'text/csv', 'text/html'] as const;
const tags = ['Reports'];

/** Creates the routes of version 2: reports as JSON, CSV and HTML. */
export function createReportRoutesV2({
  authenticate,
  limiter,
  readFigures,
  now,
}: ReportRoutesV2Options): Router {
  const router = createRouter();
  router.use(authenticate, limiter);
  router.get(
    '/',
    endpoint({
      summary: 'List reports',
      operationId: 'listReports',
      tags,
      responses: { 200: { schema: ReportList } },
      errors: { 406: 'NOT_ACCEPTABLE' },
    }),
    (ctx) => {
      negotiate(ctx, ['application/json']);
      ctx.set('Cache-Control', 'private, no-cache');
      return ctx.json({ data: SUMMARIES, meta: { total: SUMMARIES.length } });
    },
  );
  router.get(
    '/:id',
    endpoint({
      summary: 'Read a report',
      description:
        '`Accept` selects JSON, CSV or an HTML page with charts. If a service is unavailable, the report is partial and marked as such: in `meta` in JSON, in the last record of CSV, at the top of the page.',
      operationId: 'getReport',
      tags,
      responses: { 200: { schema: ReportResponse, mediaTypes: TYPES } },
      errors: { 406: 'NOT_ACCEPTABLE' },
    }),
    async (ctx) => {
      const kind = findKind(ctx.params.id);
      const type = negotiate(ctx, TYPES);
      const report = createReport(kind, await readFigures(sourcesOf(kind), ctx), now());
      ctx.set('Cache-Control', 'no-store');
      ctx.set('X-Content-Type-Options', 'nosniff');
      return RESPONSES[type](ctx, report);
    },
  );
  return router;
}

const SUMMARIES = REPORT_KINDS.map(({ id, title, description }) => ({
  id,
  title,
  description,
  links: TYPES.map((type) => ({ href: `${V2}/${id}`, type })),
}));

function findKind(id: string): ReportKind {
  const kind = REPORT_KINDS.find((known) => known.id === id);
  if (!kind) throw new NotFoundError(`Report "${id}" not found`);
  return kind;
}

const RESPONSES: Readonly<
  Record<(typeof TYPES)[number], (ctx: Context, report: Report) => undefined>
> = {
  'application/json': (ctx, { missing, charts, ...data }) => {
    return ctx.json({ data, meta: { partial: missing.length > 0, missing } });
  },
  'text/csv': (ctx, report) => {
    const { id, generatedAt, missing } = report;
    const name = `${id}-${generatedAt.toISOString().slice(0, 10)}${missing.length > 0 ? '-partial' : ''}`;
    ctx.set('Content-Type', 'text/csv; charset=utf-8; header=present');
    ctx.set('Content-Disposition', `attachment; filename="${name}.csv"`);
    return ctx.send(toCsv(report));
  },
  'text/html': (ctx, report) => {
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    return ctx.html(toPage(report));
  },
};
