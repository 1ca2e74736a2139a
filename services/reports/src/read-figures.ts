import type { paths as CatalogPaths } from '@fw/catalog/openapi/v2.d.ts';
import { type Client, type ClientResponse, ProblemError } from '@fw/client';
import type { paths as UsersPaths } from '@fw/users/openapi/v2.d.ts';
import type { Context } from 'fw';
import * as z from 'zod';

import { CatalogFigures, type Figures, type Source, UserFigures } from './figures.ts';

/** Reads the figures of `sources` for a request; never rejects because a source fails. */
export type ReadFigures = (sources: readonly Source[], ctx: Context) => Promise<Figures>;

/** The clients of the services that provide figures, typed by the documents of their version 2. */
export interface FiguresClients {
  readonly users: Pick<Client<UsersPaths>, 'get'>;
  readonly catalog: Pick<Client<CatalogPaths>, 'get'>;
}

/** Creates a function that reads figures from other services concurrently. */
export function createFiguresReader({ users, catalog }: FiguresClients): ReadFigures {
  return async (sources, ctx) => {
    const query = { days: 30, domains: 10 };
    const calls = {
      users: () => users.get('/api/v2/users/figures', { query, ctx }),
      catalog: () => catalog.get('/api/v2/catalog/figures', { ctx }),
    };

    async function read<Data>(source: Source, schema: z.ZodType<Data>): Promise<Data | undefined> {
      if (!sources.includes(source)) return undefined;
      try {
        const response: ClientResponse<unknown> = await calls[source]();
        // The types describe the document, not what the other service really sends.
        return z.object({ data: schema }).parse(response.data).data;
      } catch (error) {
        ctx.log.warn(describeFailure(error, source), { source });
        return undefined;
      }
    }

    const [userFigures, catalogFigures] = await Promise.all([
      read('users', UserFigures),
      read('catalog', CatalogFigures),
    ]);
    return { users: userFigures, catalog: catalogFigures };
  };
}

/** @throws the error itself, if the source is not its cause */
function describeFailure(error: unknown, source: Source): string {
  if (error instanceof ProblemError) return error.message;
  if (!(error instanceof z.ZodError)) throw error;
  const path = error.issues[0]?.path.join('.');
  return `Cannot use the figures of ${source}: ${path} is invalid`;
}
