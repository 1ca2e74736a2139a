import { journeys } from './lib/journeys.ts';
import { readCount, readDuration } from './lib/options.ts';

export { runJourney as default } from './lib/journeys.ts';

const duration = readDuration('10s');

/** A few iterations of each journey: everything works, and nothing is slow. */
export const options = journeys({
  rate: readCount('RATE', 6),
  scenarioAt: (rate) => ({ executor: 'constant-arrival-rate', rate, duration }),
});
