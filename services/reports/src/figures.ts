import type { paths as CatalogPaths } from '@fw/catalog/openapi/v2.d.ts';
import { type Client, type ClientResponse, ProblemError } from '@fw/client';
import type { paths as UsersPaths } from '@fw/users/openapi/v2.d.ts';
import type { Context } from 'fw';
import * as z from 'zod';

/** The services that provide figures. */
export const SOURCES = ['users', 'catalog'] as const;

export type Source = (typeof SOURCES)[number];

/** Version 1 of users accepts any text as an e-mail address: long domains are truncated. */
const Name = z.string().transform((text) => text.slice(0, 255));
const Count = z.int().min(0);
const Cents = z.int().min(0);

/** The part of the users service's figures that reports use. */
export const UserFigures = z.object({
  total: Count,
  /** Every day, oldest first, including days without a new user. */
  byDay: z.array(z.object({ date: z.iso.date(), count: Count })).max(366),
  /** The largest first. */
  byDomain: z.array(z.object({ domain: Name, count: Count })).max(100),
});

export type UserFigures = z.infer<typeof UserFigures>;

/** The part of the catalog service's figures that reports use. */
export const CatalogFigures = z.object({
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

export type CatalogFigures = z.infer<typeof CatalogFigures>;

/** The figures by source; a source that is unavailable or sends invalid data is undefined. */
export interface Figures {
  readonly users?: UserFigures | undefined;
  readonly catalog?: CatalogFigures | undefined;
}

/** The request that figures are read for. */
export type FiguresContext = Pick<Context, 'requestId' | 'get' | 'signal' | 'log'>;

/** Reads the figures of `sources` for a request; never rejects because a source fails. */
export type ReadFigures = (sources: readonly Source[], ctx: FiguresContext) => Promise<Figures>;

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
    const [userFigures, catalogFigures] = await Promise.all([
      sources.includes('users') ? read('users', UserFigures) : undefined,
      sources.includes('catalog') ? read('catalog', CatalogFigures) : undefined,
    ]);
    return { users: userFigures, catalog: catalogFigures };

    async function read<Data>(source: Source, schema: z.ZodType<Data>): Promise<Data | undefined> {
      const call: Promise<ClientResponse<unknown>> = calls[source]();
      const response = await call.catch(logFailure);
      if (response === undefined) return undefined;
      // The types describe the document, not what the other service really sends.
      const { success, data, error } = z.object({ data: schema }).safeParse(response.data);
      if (success) return data.data;
      const [issue] = error.issues;
      ctx.log.warn(`Cannot use the figures of ${source}: ${issue?.path.join('.')} is invalid`);
      return undefined;
    }

    function logFailure(error: unknown): undefined {
      if (!(error instanceof ProblemError)) throw error;
      ctx.log.warn(error.message);
    }
  };
}
