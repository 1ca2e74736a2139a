import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  type KeyObject,
  randomBytes,
} from 'node:crypto';

/** Encrypts text so that clients can store it, but neither read nor change it. */
export interface Sealer {
  seal(text: string): string;
  /** The text, and whether the first secret sealed it; `undefined` if none of the secrets did. */
  open(sealed: string): { readonly text: string; readonly isCurrent: boolean } | undefined;
}

const SALT_BYTES = 16;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Creates functions that encrypt and authenticate text with AES-256-GCM. Each text has its own key, derived
 * from the secret and a random salt, because GCM is only safe for 2^32 random nonces per key (NIST SP
 * 800-38D §8.3); XAES-256-GCM (C2SP) does the same.
 *
 * @param context authenticated too: a text that is sealed for one context is invalid in another
 */
export function createSealer(
  secrets: readonly [KeyObject, ...KeyObject[]],
  context: string,
): Sealer {
  // At the start: a signed cookie of the same secret never starts like this, because a name has no blank.
  const label = Buffer.from(`fw sealed text\0${context}`);
  const keyOf = (secret: KeyObject, salt: Uint8Array) =>
    createHmac('sha256', secret).update(label).update(salt).digest();
  return {
    seal(text) {
      const head = randomBytes(SALT_BYTES + NONCE_BYTES);
      const key = keyOf(secrets[0], head.subarray(0, SALT_BYTES));
      const cipher = createCipheriv('aes-256-gcm', key, head.subarray(SALT_BYTES));
      const encrypted = [cipher.update(text, 'utf8'), cipher.final()];
      return Buffer.concat([head, ...encrypted, cipher.getAuthTag()]).toString('base64url');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      const end = bytes.length - TAG_BYTES;
      if (end < SALT_BYTES + NONCE_BYTES || bytes.toString('base64url') !== sealed)
        return undefined;
      const salt = bytes.subarray(0, SALT_BYTES);
      const nonce = bytes.subarray(SALT_BYTES, SALT_BYTES + NONCE_BYTES);
      const encrypted = bytes.subarray(SALT_BYTES + NONCE_BYTES, end);
      for (const secret of secrets) {
        const options = { authTagLength: TAG_BYTES };
        const decipher = createDecipheriv('aes-256-gcm', keyOf(secret, salt), nonce, options);
        decipher.setAuthTag(bytes.subarray(end));
        try {
          const text = decipher.update(encrypted, undefined, 'utf8') + decipher.final('utf8');
          return { text, isCurrent: secret === secrets[0] };
        } catch {} // another secret sealed it, or none
      }
      return undefined;
    },
  };
}
