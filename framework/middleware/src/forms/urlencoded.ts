import { isUtf8 } from 'node:buffer';

import type { Context } from '@fw/core';
import { parseQuery, readBody } from '@fw/core/extension';
import { BadRequestError } from '@fw/errors';

import { type FieldLimits, type Form, requireSafeName, tooMany } from './form.ts';

/**
 * Reads a body in the encoding `application/x-www-form-urlencoded`.
 *
 * @throws {PayloadTooLargeError} if it exceeds a limit
 * @throws {BadRequestError} if an escape is malformed or the text is not UTF-8
 */
export async function readUrlencoded(
  { raw: { req, res } }: Context,
  { limit, maxFields }: FieldLimits,
): Promise<Form> {
  const bytes = await readBody(req, res, { limitBytes: limit });
  if (!isUtf8(bytes)) throw new BadRequestError('The form must be UTF-8');
  const text = bytes.toString();
  if (text.split('&', maxFields + 1).length > maxFields) throw tooMany('fields', maxFields);
  const form = parseQuery(text, 'form');
  for (const name of Object.keys(form)) requireSafeName(name);
  return form;
}
