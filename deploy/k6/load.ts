import { journeys } from './lib/journeys.ts';
import { FAILED_RATE } from './lib/objectives.ts';
import { readCount, readDuration } from './lib/options.ts';

export { runJourney as default } from './lib/journeys.ts';

/** Arrivals that ramp up, hold and ramp down. */
export const options = journeys({
  rate: readCount('RATE', 20),
  failedRate: FAILED_RATE,
  scenarioAt: (rate) => ({
    executor: 'ramping-arrival-rate',
    startRate: 1,
    stages: [
      { target: rate, duration: '10s' },
      { target: rate, duration: readDuration('1m') },
      { target: 0, duration: '5s' },
    ],
  }),
});
