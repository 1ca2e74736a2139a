import { PROFILES } from './lib/profiles.ts';

export { createUser as setup, mixed, overloaded } from './lib/stream.ts';

export const options = PROFILES.stress(__ENV);
