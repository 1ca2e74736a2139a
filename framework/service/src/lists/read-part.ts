import { BadRequestError } from 'fw';
import type * as z from 'zod';

/**
 * Reads a part of a request, such as `ctx.query`. The response to an invalid one has the text of the first
 * issue; `validate()` instead sends a list of all issues.
 *
 * @throws {BadRequestError} if the part is invalid
 */
export function readPart<Output>(schema: z.ZodType<Output>, part: unknown): Output {
  const { data, error } = schema.safeParse(part);
  if (error) throw new BadRequestError(error.issues[0]?.message);
  return data;
}
