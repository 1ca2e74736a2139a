import { PROFILES } from './lib/profiles.ts';

export { createUser as setup, mixed } from './lib/stream.ts';

export const options = PROFILES.breakpoint(__ENV);
