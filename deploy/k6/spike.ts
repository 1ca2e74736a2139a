import { readCount, readDuration } from './lib/options.ts';
import { overload } from './lib/overload.ts';

export { createUser as setup, mixed, overloaded } from './lib/mixed.ts';

/** The rate jumps to ten times the normal load for a moment. */
export const options = overload({
  rate: readCount('RATE', 1_000),
  duration: readDuration('10s'),
  isGradual: false,
});
