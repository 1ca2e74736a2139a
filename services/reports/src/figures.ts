import * as z from 'zod';

/** Where figures come from. */
export type Source = 'users' | 'catalog';

/** Version 1 of users takes any text for an address: nobody spoils a report by a long one. */
const Name = z.string().transform((text) => text.slice(0, 255));
const Count = z.int().min(0);
const Cents = z.int().min(0);

/** What users says of itself, as far as it is used here. */
export const UserFigures = z.object({
  total: Count,
  /** Each day, oldest first, those without a user included. */
  byDay: z.array(z.object({ date: z.iso.date(), count: Count })).max(366),
  /** The largest first. */
  byDomain: z.array(z.object({ domain: Name, count: Count })).max(100),
});

export type UserFigures = z.infer<typeof UserFigures>;

/** What catalog says of itself, as far as it is used here. */
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

/** What the sources said; one that is not there has not answered, or nothing of use. */
export interface Figures {
  readonly users?: UserFigures | undefined;
  readonly catalog?: CatalogFigures | undefined;
}
