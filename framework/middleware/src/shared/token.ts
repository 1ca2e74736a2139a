import { TOKEN } from '@fw/core/extension';
import { check } from '@fw/core/options';

const PATTERN = new RegExp(`^${TOKEN}$`);

/** Whether `text` is a token (RFC 9110 §5.6.2), such as the name of a header. */
export function isToken(text: string): boolean {
  return PATTERN.test(text);
}

export const aToken = check('a token', (value) => typeof value === 'string' && isToken(value));
