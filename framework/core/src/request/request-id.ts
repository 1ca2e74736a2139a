import { randomFillSync } from 'node:crypto';

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
