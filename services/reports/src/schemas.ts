import * as z from 'zod';

import { SOURCES } from './figures.ts';
import { COLUMN_KINDS } from './report.ts';

const id = z.string().meta({ examples: ['users-by-day'] });
const title = z.string().meta({ examples: ['Users by day'] });
const description = z.string();

export const ReportListV1 = z.object({
  reports: z.array(z.object({ id, title, description }).meta({ id: 'ReportV1' })),
});

/** An entry of the list in version 2. */
const summary = z
  .object({
    id,
    title,
    description,
    links: z.array(z.object({ href: z.string(), type: z.string() })).meta({
      description: 'The path of the report, for each media type that `Accept` can select',
    }),
  })
  .meta({ id: 'ReportSummary' });

export const ReportList = z.object({
  data: z.array(summary),
  meta: z.object({ total: z.int() }),
});

export const ReportResponse = z
  .object({
    data: z.object({
      id,
      title,
      description,
      generatedAt: z.iso.datetime(),
      columns: z.array(
        z.object({
          name: z.string().meta({ description: 'The name of the cells in each row' }),
          title: z.string(),
          kind: z.enum(COLUMN_KINDS).meta({
            description: '`money` is in cents of the `currency` in the same row',
          }),
        }),
      ),
      rows: z.array(z.record(z.string(), z.union([z.string(), z.number()]))),
    }),
    meta: z.object({
      partial: z.boolean().meta({ description: 'Whether figures are missing' }),
      missing: z
        .array(z.enum(SOURCES))
        .meta({ description: 'The services whose figures are missing' }),
    }),
  })
  .meta({ id: 'Report' });
