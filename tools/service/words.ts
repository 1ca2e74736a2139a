import { requireWord, type Words } from '../../framework/create/src/words.ts';

/**
 * The words of a new service: `orders`, and `order` for one of its resources.
 *
 * @param singular empty: the name without its final "s"
 * @throws {RangeError} if a word is not lower-case letters or is reserved, or the name is one of `taken`
 */
export function readWords(
  { name, singular: requested }: { readonly name: string; readonly singular: string },
  taken: readonly string[],
): Words {
  requireWord('NAME', name);
  if (taken.includes(name)) {
    throw new RangeError(`NAME is "${name}": there is already a service or package of this name`);
  }
  const singular = requested || (name.endsWith('s') ? name.slice(0, -1) : '');
  if (singular === '') {
    throw new RangeError(
      `Cannot derive the name of one resource from "${name}": set SINGULAR, such as SINGULAR=item`,
    );
  }
  requireWord('SINGULAR', singular);
  if (singular === name) {
    throw new RangeError(`SINGULAR is "${singular}": expected another word than NAME`);
  }
  return { plural: name, singular };
}
