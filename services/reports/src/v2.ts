import { negotiate } from '@fw/middleware/negotiate';
import { documented } from '@fw/openapi';
import { type Context, createRouter, type Middleware, NotFoundError, type Router } from 'fw';

import { toCsv } from './csv.ts';
import { PAGE_POLICY, toPage } from './page.ts';
import type { ReadFigures } from './read-figures.ts';
import { makeReport, type Report, type ReportKind } from './report.ts';
import { REPORT_KINDS } from './report-kinds.ts';
import { requireAuth, type Verify } from './require-auth.ts';
import { ReportAnswer, ReportList } from './schemas.ts';

export interface ReportRoutesV2Options {
  readonly verify: Verify;
  /** Runs before authentication, and counts failures of it. */
  readonly failureLimiter: Middleware;
  /** Runs for authenticated requests, before anything is asked of other services. */
  readonly limiter: Middleware;
  readonly readFigures: ReadFigures;
  readonly now: () => Date;
}

/** Where the second version is mounted. */
export const V2 = '/api/v2/reports';

const TYPES = ['application/json', 'text/csv', 'text/html'] as const;
const NOT_ACCEPTED = { 406: { description: '`Accept` allows none of the media types' } };
const tags = ['Reports'];

/** The second version of the API: reports with figures, in three formats. */
export function reportRoutesV2({
  verify,
  failureLimiter,
  limiter,
  readFigures,
  now,
}: ReportRoutesV2Options): Router {
  const router = createRouter();
  router.get(
    '/',
    documented({
      summary: 'List reports',
      operationId: 'listReports',
      tags,
      responses: { 200: { schema: ReportList }, ...NOT_ACCEPTED },
    }),
    failureLimiter,
    requireAuth(verify),
    limiter,
    (ctx) => {
      negotiate(ctx, ['application/json']);
      ctx.set('Cache-Control', 'private, no-cache');
      ctx.json({ data: SUMMARIES, meta: { total: SUMMARIES.length } });
    },
  );
  router.get(
    '/:id',
    documented({
      summary: 'Read a report',
      description:
        'As JSON, CSV or an HTML page with charts, by `Accept`. Where a service has no figures to give, the report is made without them and says so: by `meta` in JSON, in the last record of CSV, at the top of the page.',
      operationId: 'getReport',
      tags,
      responses: { 200: { schema: ReportAnswer, mediaTypes: TYPES }, ...NOT_ACCEPTED },
    }),
    failureLimiter,
    requireAuth(verify),
    limiter,
    async (ctx) => {
      const kind = findKind(ctx.params.id);
      const type = negotiate(ctx, TYPES);
      const report = makeReport(kind, await readFigures(kind.sources, ctx), now());
      ctx.set('Cache-Control', 'no-store');
      ctx.set('X-Content-Type-Options', 'nosniff');
      ANSWERS[type](ctx, report);
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

const ANSWERS: Readonly<Record<(typeof TYPES)[number], (ctx: Context, report: Report) => void>> = {
  'application/json': (ctx, { missing, charts, ...data }) => {
    ctx.json({ data, meta: { partial: missing.length > 0, missing } });
  },
  'text/csv': (ctx, report) => {
    const { id, generatedAt, missing } = report;
    const name = `${id}-${generatedAt.toISOString().slice(0, 10)}${missing.length > 0 ? '-partial' : ''}`;
    ctx.set('Content-Type', 'text/csv; charset=utf-8; header=present');
    ctx.set('Content-Disposition', `attachment; filename="${name}.csv"`);
    ctx.send(toCsv(report));
  },
  'text/html': (ctx, report) => {
    ctx.set('Content-Security-Policy', PAGE_POLICY);
    ctx.html(toPage(report));
  },
};
