import { type CallContext, ServiceCallError, type ServiceClient } from '@fw/service';
import type { Context } from 'fw';
import * as z from 'zod';

import { CatalogFigures, type Figures, type Source, UserFigures } from './figures.ts';

/** The request that figures are read for. */
export type FiguresContext = CallContext & Pick<Context, 'log'>;

/** Reads the figures of `sources`, on behalf of a request. It never fails because one of them does. */
export type ReadFigures = (sources: readonly Source[], ctx: FiguresContext) => Promise<Figures>;

const USERS_PATH = '/api/v2/users/figures?days=30&domains=10';
const CATALOG_PATH = '/api/v2/catalog/figures';

/** Reads figures from the services behind `clients`, all at once. */
export function figuresReader(
  clients: Readonly<Record<Source, Pick<ServiceClient, 'getJson'>>>,
): ReadFigures {
  return async (sources, ctx) => {
    const [users, catalog] = await Promise.all([
      sources.includes('users') ? ask('users', USERS_PATH, UserFigures) : undefined,
      sources.includes('catalog') ? ask('catalog', CATALOG_PATH, CatalogFigures) : undefined,
    ]);
    return { users, catalog };

    async function ask<Data>(
      source: Source,
      path: string,
      schema: z.ZodType<Data>,
    ): Promise<Data | undefined> {
      const answer = await clients[source].getJson(path, ctx).catch(giveUp);
      if (answer === undefined) return undefined;
      const { success, data, error } = z.object({ data: schema }).safeParse(answer);
      if (success) return data.data;
      const [issue] = error.issues;
      ctx.log.warn(`Cannot use the figures of ${source}: ${issue?.path.join('.')} does not fit`);
      return undefined;
    }

    function giveUp(error: unknown): undefined {
      if (!(error instanceof ServiceCallError)) throw error;
      ctx.log.warn(error.message);
    }
  };
}
