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
