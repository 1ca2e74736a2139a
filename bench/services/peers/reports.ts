import rateLimit from '@fastify/rate-limit';
import { toCsv } from '@fw/reports/src/csv.ts';
import { PAGE_POLICY, toPage } from '@fw/reports/src/page.ts';
import type { FiguresContext, ReadFigures } from '@fw/reports/src/read-figures.ts';
import { makeReport, type Report } from '@fw/reports/src/report.ts';
import { REPORT_KINDS } from '@fw/reports/src/report-kinds.ts';
import type { Verify } from '@fw/reports/src/require-auth.ts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { HttpError, NotFoundError, UnauthorizedError } from 'fw';

import { answers, date, integer, listOf, objectOf, text, truth } from './answers.ts';
import { announceSuccessor } from './version-one.ts';

/** What the reports are made of, in place of a store. */
export interface ReportSources {
  readonly verify: Verify;
  readonly readFigures: ReadFigures;
  /** Requests a minute. */
  readonly max: number;
}

const V1 = '/api/v1/reports';
const V2 = '/api/v2/reports';

const summary = { id: text, title: text, description: text };

/** The reports service on fastify: its routes are written anew, what lies below them is the same. */
export async function reportRoutes(app: FastifyInstance, sources: ReportSources): Promise<void> {
  app.decorateRequest('userId', '');
  await app.register(async (v1) => versionOne(v1, sources), { prefix: V1 });
  await app.register(async (v2) => versionTwo(v2, sources), { prefix: V2 });
}

declare module 'fastify' {
  interface FastifyRequest {
    userId: string;
  }
}

/** A bearer token first, and then the limit of its user. */
async function guard(app: FastifyInstance, { verify, max }: ReportSources): Promise<void> {
  app.addHook('onRequest', async (request) => {
    const token = /^bearer +([\w.~+/-]+=*)$/i.exec(request.headers.authorization ?? '')?.[1];
    if (token === undefined) throw new UnauthorizedError('a bearer token is required');
    request.userId = (await verify(token)).id;
  });
  await app.register(rateLimit, {
    max,
    timeWindow: 60_000,
    enableDraftSpec: true,
    hook: 'preHandler',
    keyGenerator: ({ userId }) => `user:${userId}`,
  });
}

async function versionOne(app: FastifyInstance, sources: ReportSources): Promise<void> {
  announceSuccessor(app, V1, V2);
  await guard(app, sources);
  const reports = REPORT_KINDS.map(({ id, title, description }) => ({ id, title, description }));
  const schema = answers({ 200: { reports: listOf(objectOf(summary)) } });
  app.get('/', { schema }, async () => ({ reports }));
}

async function versionTwo(app: FastifyInstance, sources: ReportSources): Promise<void> {
  await guard(app, sources);
  const data = REPORT_KINDS.map(({ id, title, description }) => ({
    id,
    title,
    description,
    links: TYPES.map((type) => ({ href: `${V2}/${id}`, type })),
  }));
  const links = listOf(objectOf({ href: text, type: text }));
  const list = answers({
    200: { data: listOf(objectOf({ ...summary, links })), meta: objectOf({ total: integer }) },
  });
  app.get('/', { schema: list }, async (_request, reply) => {
    reply.header('vary', 'Accept').header('cache-control', 'private, no-cache');
    return { data, meta: { total: data.length } };
  });

  const cell = { anyOf: [text, { type: 'number' }] };
  const one = answers({
    200: {
      data: objectOf({
        ...summary,
        generatedAt: date,
        columns: listOf(objectOf({ name: text, title: text, kind: text })),
        rows: listOf({ type: 'object', additionalProperties: cell }),
      }),
      meta: objectOf({ partial: truth, missing: listOf(text) }),
    },
  });
  app.get<{ Params: { id: string } }>('/:id', { schema: one }, async (request, reply) => {
    const kind = REPORT_KINDS.find(({ id }) => id === request.params.id);
    if (!kind) throw new NotFoundError(`Report "${request.params.id}" not found`);
    const type = typeOf(request.headers.accept ?? '*/*');
    const figures = await sources.readFigures(kind.sources, callOf(request));
    reply.header('vary', 'Accept').header('cache-control', 'no-store');
    return ANSWERS[type](reply, makeReport(kind, figures, new Date()));
  });
}

const TYPES = ['application/json', 'text/csv', 'text/html'] as const;

function typeOf(accept: string): (typeof TYPES)[number] {
  const type = accept.includes('*/*') ? TYPES[0] : TYPES.find((each) => accept.includes(each));
  if (!type) throw new HttpError(406, `expected an Accept that allows ${TYPES.join(' or ')}`);
  return type;
}

const ANSWERS: Readonly<
  Record<(typeof TYPES)[number], (reply: FastifyReply, report: Report) => unknown>
> = {
  'application/json': (_reply, { missing, charts: _charts, ...data }) => ({
    data,
    meta: { partial: missing.length > 0, missing },
  }),
  'text/csv': (reply, report) => {
    const { id, generatedAt, missing } = report;
    const name = `${id}-${generatedAt.toISOString().slice(0, 10)}${missing.length > 0 ? '-partial' : ''}`;
    reply.header('content-disposition', `attachment; filename="${name}.csv"`);
    return reply.type('text/csv; charset=utf-8; header=present').send(toCsv(report));
  },
  'text/html': (reply, report) => {
    reply.header('content-security-policy', PAGE_POLICY);
    return reply.type('text/html; charset=utf-8').send(toPage(report));
  },
};

/** What a call to another service needs of the request that it is made for. */
function callOf(request: FastifyRequest): FiguresContext {
  return {
    requestId: request.id,
    get: (name) => {
      const value = request.headers[name.toLowerCase()];
      return typeof value === 'string' ? value : undefined;
    },
    get signal() {
      return new AbortController().signal;
    },
    log: request.log,
  };
}
