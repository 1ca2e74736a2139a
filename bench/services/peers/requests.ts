import type { FastifyReply, FastifyRequest } from 'fastify';
import { HttpError } from 'fw';

/** Refuses a request whose `Accept` leaves JSON out. */
export function expectAcceptsJson(request: FastifyRequest): void {
  const { accept } = request.headers;
  if (accept === undefined || /(?:^|,)\s*(?:application\/(?:json|\*)|\*\/\*)/.test(accept)) return;
  throw new HttpError(406, 'expected an Accept that allows application/json');
}

/** Sets `ETag`; whether the client has this state already, which is then answered. */
export function isNotModified(request: FastifyRequest, reply: FastifyReply, etag: string): boolean {
  reply.header('etag', etag);
  const known = request.headers['if-none-match'];
  if (known === undefined || !known.split(/,\s*/).includes(etag)) return false;
  reply.code(304).send();
  return true;
}
