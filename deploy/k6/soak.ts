import { PROFILES } from './lib/profiles.ts';

export * from './lib/journeys.ts';

export const options = PROFILES.soak(__ENV);
