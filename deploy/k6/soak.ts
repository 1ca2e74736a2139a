import { journeys } from './lib/journeys.ts';
import { FAILED_RATE } from './lib/objectives.ts';
import { readCount, readDuration } from './lib/options.ts';

export { runJourney as default } from './lib/journeys.ts';

const duration = readDuration('20m');

/** A steady load for a long time: memory that is not released becomes visible. */
export const options = journeys({
  rate: readCount('RATE', 10),
  failedRate: FAILED_RATE,
  scenarioAt: (rate) => ({ executor: 'constant-arrival-rate', rate, duration }),
});
