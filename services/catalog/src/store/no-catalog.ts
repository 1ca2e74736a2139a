import { ServiceUnavailableError } from 'fw';

/** The answer of a store that no import has filled yet. */
export function noCatalog(): ServiceUnavailableError {
  return new ServiceUnavailableError('There is no catalog yet', {
    headers: { 'Retry-After': '1' },
  });
}
