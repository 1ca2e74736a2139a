import { createSecretKey, type KeyObject } from 'node:crypto';

/** The output length of SHA-256: a shorter key is weaker than the function (RFC 2104 §3). */
const MIN_SECRET_BYTES = 32;

/**
 * Reads the secrets of cookies: the first is used for new cookies, all of them for cookies of requests.
 *
 * @throws {TypeError} starting with `action`, if there is no secret or one has less than 32 bytes; the
 *   message contains no secret
 */
export function readSecrets(secrets: unknown, action: string): [KeyObject, ...KeyObject[]] {
  if (!Array.isArray(secrets) || secrets.length === 0) {
    throw new TypeError(`${action}: expected a list of secrets`);
  }
  const keys = secrets.map((secret: unknown, index) => {
    const bytes = Buffer.from(typeof secret === 'string' ? secret : '');
    if (bytes.length >= MIN_SECRET_BYTES) return createSecretKey(bytes);
    throw new TypeError(
      `${action} with secret ${index + 1}, which has ${bytes.length} bytes: expected a string of at least ${MIN_SECRET_BYTES} bytes`,
    );
  });
  return keys as [KeyObject, ...KeyObject[]];
}
