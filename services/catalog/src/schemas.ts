import { integerText, numberedPageQuery, pageOf, pageQuery, plainText } from '@fw/service';
import * as z from 'zod';

import { ORDERS } from './item.ts';

/** The page sizes of version 2. */
const PAGE_SIZES = { defaultLimit: 20, maxLimit: 100 };

/** The page sizes of version 1, which do not change. */
const PAGE_SIZES_V1 = { defaultLimit: 20, maxLimit: 100 };

const KETTLE = {
  id: 7,
  name: 'Brisk Kettle, 1.7 L',
  category: 'Kitchen',
  brand: 'Brisk',
  priceCents: 4990,
  currency: 'EUR',
  description: 'Boils water.',
  tags: ['tea', 'appliance'],
};

const cents = z.int().min(0);
const count = z.int().min(0);

/** An item in version 2. */
const item = z
  .object({
    id: z.int().min(1),
    name: z.string(),
    category: z.string(),
    brand: z.string(),
    priceCents: cents.meta({ description: 'In hundredths of `currency`' }),
    currency: z.string().meta({ description: 'ISO 4217' }),
    description: z.string(),
    tags: z.array(z.string()),
  })
  .meta({ id: 'Item', examples: [KETTLE] });

/** A page of version 1. */
export const ItemPageV1 = z.object({
  items: z.array(z.object({ id: z.int().min(1), name: z.string() }).meta({ id: 'ItemV1' })),
  page: z.int().min(1),
  limit: z.int().min(1).max(PAGE_SIZES_V1.maxLimit),
  total: count.meta({ description: 'Number of all items' }),
  totalPages: count,
  hasNextPage: z.boolean(),
});

export const PageQueryV1 = numberedPageQuery({
  ...PAGE_SIZES_V1,
  limitDescription: `Items per page; default ${PAGE_SIZES_V1.defaultLimit}`,
});

const MAX_TEXT_LENGTH = 200;

const text = plainText({ min: 1, max: MAX_TEXT_LENGTH });

const price = integerText({ from: 0 });

const filterShape = {
  q: text.optional().meta({
    description:
      'Words that an item must contain, all of them, in its name, brand, category, description or tags. Case, accents and punctuation are ignored; there are no operators.',
    examples: ['café table'],
  }),
  category: text.optional().meta({ description: 'Only items of exactly this category' }),
  brand: text.optional().meta({ description: 'Only items of exactly this brand' }),
  minPrice: price.optional().meta({
    description:
      'Only items of at least this price, in hundredths; `minPrice=` without a value is invalid',
  }),
  maxPrice: price.optional().meta({
    description:
      'Only items of at most this price, in hundredths; `maxPrice=` without a value is invalid',
  }),
};

/** Selects items. Unknown names are rejected: a misspelled filter would return every item. */
export const FilterQuery = z.strictObject(filterShape);
export type FilterQuery = z.output<typeof FilterQuery>;

const SORTS = [...ORDERS, '-id', '-name', '-price'] as const;

export const ListQuery = z.strictObject({
  ...filterShape,
  sort: z.enum(SORTS).default('id').meta({ description: 'Sort order; `-` for descending' }),
  ...pageQuery(PAGE_SIZES),
});
export type ListQuery = z.output<typeof ListQuery>;

export const ItemResponse = z.object({ data: item });

export const ItemPageResponse = pageOf(item, PAGE_SIZES);

export const ItemParams = z.object({
  id: integerText({ from: 1 }),
});

const Counts = z.array(z.object({ value: z.string(), count }).meta({ id: 'Count' }));

export const FacetsResponse = z.object({
  data: z.object({ category: Counts, brand: Counts }).meta({ id: 'Facets' }),
  meta: z.object({
    counted: count.meta({ description: 'Number of items that were counted' }),
    isExact: z.boolean().meta({
      description: 'Whether every matching item was counted; if not, there are more',
    }),
  }),
});

export const FiguresResponse = z.object({
  data: z
    .object({
      total: count,
      byCategory: z.array(
        z.object({
          category: z.string(),
          currency: z.string(),
          items: count,
          minPriceCents: cents,
          medianPriceCents: cents.meta({ description: 'The lower of the two in the middle' }),
          maxPriceCents: cents,
        }),
      ),
    })
    .meta({ id: 'CatalogFigures' }),
  meta: z.object({
    isExact: z.boolean().meta({
      description: 'Whether these are all categories; if not, the ones with the most items',
    }),
  }),
});
