import { sleep } from 'k6';
import { scenario } from 'k6/execution';
import { Counter } from 'k6/metrics';
import { type RequestOptions, type Response, send } from './lib/client.ts';
import { ROLLOUT_KINDS } from './lib/kinds.ts';
import type { Kind } from './lib/objectives.ts';
import { PROFILES } from './lib/profiles.ts';
import { creationWithKey, requestOf } from './lib/stream.ts';
import { readRetrySeconds } from './lib/variables.ts';

const creationsSent = new Counter('creations_sent');
const usersCreated = new Counter('users_created');
const requestsLost = new Counter('requests_lost');

const RETRY_MS = readRetrySeconds(__ENV) * 1_000;
/** A request without an `Idempotency-Key` cannot be repeated: it might create a second user. */
const CREATING = RETRY_MS > 0 ? (['POST /api/v2/users'] as const) : ROLLOUT_KINDS.creating;

export const options = PROFILES.rollout(__ENV);

/** Creates the user of the read requests; returns the id. */
export function setup(): string {
  const id = create('POST /api/v2/users', creationWithKey());
  if (!id) throw new Error('Cannot create the user for the read requests');
  return id;
}

/** Sends one request; every second one creates a user. */
export default function stream(id: string): void {
  const number = scenario.iterationInTest;
  const turn = Math.floor(number / 2);
  if (number % 2 === 0) {
    const kind = CREATING[turn % CREATING.length]!;
    create(kind, requestOf(kind, id));
  } else {
    const kind = ROLLOUT_KINDS.reading[turn % ROLLOUT_KINDS.reading.length]!;
    sendOrRepeat(kind, requestOf(kind, id));
  }
}

/** Creates a user and returns its id; with `LEDGER`, logs each user of a response with 201. */
function create(kind: Kind, request: RequestOptions): string | undefined {
  creationsSent.add(1);
  const response = sendOrRepeat(kind, request);
  if (!response) return undefined;
  usersCreated.add(1);
  const id = String(response.json('data.id'));
  const { email, name } = request.body as { readonly email: string; readonly name: string };
  if (__ENV.LEDGER) console.log(`created ${id} ${email} ${name}`);
  return id;
}

/** With `RETRY_SECONDS`, repeats a request that failed, as a client does during an outage. */
function sendOrRepeat(kind: Kind, request: RequestOptions): Response | undefined {
  const endMs = Date.now() + RETRY_MS;
  for (;;) {
    const response = send(kind, request);
    if (response) return response;
    if (Date.now() >= endMs) break;
    sleep(1);
  }
  requestsLost.add(1);
  return undefined;
}
