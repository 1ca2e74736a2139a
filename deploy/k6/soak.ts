import { PROFILES } from './lib/profiles.ts';

export { catalog, reports, users } from './lib/journeys.ts';

export const options = PROFILES.soak(__ENV);
