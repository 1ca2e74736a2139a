import { type CallContext, ServiceCallError, type ServiceClient } from '@fw/service';
import type { Context } from 'fw';
import * as z from 'zod';

import { CatalogStatistics, type Source, type Statistics, UserStatistics } from './statistics.ts';

/** The request that statistics are read for. */
export type StatisticsContext = CallContext & Pick<Context, 'log'>;

/** Reads the statistics of `sources` for a request; never rejects because a source fails. */
export type ReadStatistics = (
  sources: readonly Source[],
  ctx: StatisticsContext,
) => Promise<Statistics>;

const USERS_PATH = '/api/v2/users/figures?days=30&domains=10';
const CATALOG_PATH = '/api/v2/catalog/figures';

/** Creates a function that reads statistics from other services concurrently. */
export function createStatisticsReader(
  clients: Readonly<Record<Source, Pick<ServiceClient, 'getJson'>>>,
): ReadStatistics {
  return async (sources, ctx) => {
    const [users, catalog] = await Promise.all([
      sources.includes('users') ? read('users', USERS_PATH, UserStatistics) : undefined,
      sources.includes('catalog') ? read('catalog', CATALOG_PATH, CatalogStatistics) : undefined,
    ]);
    return { users, catalog };

    async function read<Data>(
      source: Source,
      path: string,
      schema: z.ZodType<Data>,
    ): Promise<Data | undefined> {
      const response = await clients[source].getJson(path, ctx).catch(logFailure);
      if (response === undefined) return undefined;
      const { success, data, error } = z.object({ data: schema }).safeParse(response);
      if (success) return data.data;
      const [issue] = error.issues;
      ctx.log.warn(`Cannot use the statistics of ${source}: ${issue?.path.join('.')} is invalid`);
      return undefined;
    }

    function logFailure(error: unknown): undefined {
      if (!(error instanceof ServiceCallError)) throw error;
      ctx.log.warn(error.message);
    }
  };
}
