import type { paths as CatalogPaths } from '@fw/catalog/openapi/v2.d.ts';
import { type Client, type ClientResponse, ProblemError } from '@fw/client';
import type { paths as UsersPaths } from '@fw/users/openapi/v2.d.ts';
import type { Context } from 'fw';
import * as z from 'zod';

/** The services that provide statistics. */
export const SOURCES = ['users', 'catalog'] as const;

export type Source = (typeof SOURCES)[number];

/** Version 1 of users accepts any text as an e-mail address: long domains are truncated. */
const Name = z.string().transform((text) => text.slice(0, 255));
const Count = z.int().min(0);
const Cents = z.int().min(0);

/** The part of the users service's statistics that reports use. */
export const UserStatistics = z.object({
  total: Count,
  /** Every day, oldest first, including days without a new user. */
  byDay: z.array(z.object({ date: z.iso.date(), count: Count })).max(366),
  /** The largest first. */
  byDomain: z.array(z.object({ domain: Name, count: Count })).max(100),
});

export type UserStatistics = z.infer<typeof UserStatistics>;

/** The part of the catalog service's statistics that reports use. */
export const CatalogStatistics = z.object({
  total: Count,
  /** The largest first. */
  byCategory: z
    .array(
      z.object({
        category: Name,
        currency: z.string().regex(/^[A-Z]{3}$/),
        items: Count,
        minPriceCents: Cents,
        medianPriceCents: Cents,
        maxPriceCents: Cents,
      }),
    )
    .max(10_000),
});

export type CatalogStatistics = z.infer<typeof CatalogStatistics>;

/** The statistics by source; a source that is unavailable or sends invalid data is undefined. */
export interface Statistics {
  readonly users?: UserStatistics | undefined;
  readonly catalog?: CatalogStatistics | undefined;
}

/** The request that statistics are read for. */
export type StatisticsContext = Pick<Context, 'requestId' | 'get' | 'signal' | 'log'>;

/** Reads the statistics of `sources` for a request; never rejects because a source fails. */
export type ReadStatistics = (
  sources: readonly Source[],
  ctx: StatisticsContext,
) => Promise<Statistics>;

/** The clients of the services that provide statistics, typed by the documents of their version 2. */
export interface StatisticsClients {
  readonly users: Pick<Client<UsersPaths>, 'get'>;
  readonly catalog: Pick<Client<CatalogPaths>, 'get'>;
}

/** Creates a function that reads statistics from other services concurrently. */
export function createStatisticsReader({ users, catalog }: StatisticsClients): ReadStatistics {
  return async (sources, ctx) => {
    const query = { days: 30, domains: 10 };
    const calls = {
      users: () => users.get('/api/v2/users/figures', { query, ctx }),
      catalog: () => catalog.get('/api/v2/catalog/figures', { ctx }),
    };
    const [userStatistics, catalogStatistics] = await Promise.all([
      sources.includes('users') ? read('users', UserStatistics) : undefined,
      sources.includes('catalog') ? read('catalog', CatalogStatistics) : undefined,
    ]);
    return { users: userStatistics, catalog: catalogStatistics };

    async function read<Data>(source: Source, schema: z.ZodType<Data>): Promise<Data | undefined> {
      const call: Promise<ClientResponse<unknown>> = calls[source]();
      const response = await call.catch(logFailure);
      if (response === undefined) return undefined;
      // The types describe the document, not what the other service really sends.
      const { success, data, error } = z.object({ data: schema }).safeParse(response.data);
      if (success) return data.data;
      const [issue] = error.issues;
      ctx.log.warn(`Cannot use the statistics of ${source}: ${issue?.path.join('.')} is invalid`);
      return undefined;
    }

    function logFailure(error: unknown): undefined {
      if (!(error instanceof ProblemError)) throw error;
      ctx.log.warn(error.message);
    }
  };
}
