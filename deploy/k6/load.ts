import { PROFILES } from './lib/profiles.ts';
import { summaryOf } from './lib/summary.ts';

export { catalog, reports, users } from './lib/journeys.ts';

export const options = PROFILES.load(__ENV);
export const handleSummary = summaryOf('load');
