import { randomFillSync } from 'node:crypto';

const VALID = /^[A-Za-z0-9_-]{1,64}$/;

/** The id that the client sent, if it is valid, or a new one. */
export function readRequestId(claimed: string | undefined): string {
  return claimed !== undefined && VALID.test(claimed) ? claimed : createRequestId();
}

const ID_LENGTH = 32;
const random = Buffer.alloc(8_192);
let digits = '';
let at = 0;

/** A new request id: 32 random hexadecimal digits, like the ids of nginx. Generated in batches. */
export function createRequestId(): string {
  if (at === digits.length) {
    digits = randomFillSync(random).toString('hex');
    at = 0;
  }
  at += ID_LENGTH;
  return digits.slice(at - ID_LENGTH, at);
}
