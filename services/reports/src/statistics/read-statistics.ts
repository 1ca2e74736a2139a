import type { paths as CatalogPaths } from '@fw/catalog/openapi/v2.d.ts';
import { type Client, type ClientResponse, ProblemError } from '@fw/client';
import type { paths as UsersPaths } from '@fw/users/openapi/v2.d.ts';
import type { Context } from 'fw';
import * as z from 'zod';

import { CatalogStatistics, type Source, type Statistics, UserStatistics } from './statistics.ts';

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
