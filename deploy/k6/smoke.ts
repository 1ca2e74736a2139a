import { PROFILES } from './lib/profiles.ts';
import { summaryOf } from './lib/summary.ts';

export { catalog, reports, users } from './lib/journeys.ts';

export const options = PROFILES.smoke(__ENV);
export const handleSummary = summaryOf('smoke');
