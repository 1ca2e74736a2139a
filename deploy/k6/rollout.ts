import { scenario } from 'k6/execution';

import type { Kind } from '../slo.ts';
import { ROLLOUT_KINDS } from './lib/kinds.ts';
import { PROFILES } from './lib/profiles.ts';
import { sendOne } from './lib/stream.ts';

export { createUser as setup } from './lib/stream.ts';

export const options = PROFILES.rollout(__ENV);

/** Sends one request; every second one creates a user. */
export default function stream(id: string): void {
  const number = scenario.iterationInTest;
  const turn = Math.floor(number / 2);
  const { creating, reading } = ROLLOUT_KINDS;
  const kinds: readonly Kind[] = number % 2 === 0 ? creating : reading;
  sendOne(kinds[turn % kinds.length]!, id);
}
