import { readCount, readDuration } from './lib/options.ts';
import { overload } from './lib/overload.ts';

export { createUser as setup, mixed, overloaded } from './lib/mixed.ts';

/** The rate rises to a peak beyond the capacity, and falls again. */
export const options = overload({
  rate: readCount('RATE', 1_000),
  duration: readDuration('1m'),
  isGradual: true,
});
