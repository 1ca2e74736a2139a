import type { ServiceWords } from './names.ts';

/** The service that the generator copies. */
export const TEMPLATE: ServiceWords = { plural: 'users', singular: 'user' };

/** The word in each case, whole or in an identifier; not `User-Agent`, and not `user:password` of an address. */
const WORD =
  /(?<![A-Za-z])users?(?![a-z]|-agent|:password)|(?<![A-Z])Users?(?![a-z]|-Agent)|(?<![A-Z])USERS?(?![A-Z])/g;

/** Replaces the words of the template: `users`, `a user`, `UserStore`, `USERS_FORMAT`, `toUser`. */
export function rename(text: string, { plural, singular }: ServiceWords): string {
  const article = /^[aeio]/.test(singular) ? '$1n ' : '$1 ';
  return text.replace(/\b([Aa]) (?=user\b)/g, article).replace(WORD, (found) => {
    const word = /s$/i.test(found) ? plural : singular;
    if (found === found.toUpperCase()) return word.toUpperCase();
    return found.startsWith('U') ? `${word[0]?.toUpperCase()}${word.slice(1)}` : word;
  });
}
