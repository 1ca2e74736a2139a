import { sleep } from 'k6';
import { scenario } from 'k6/execution';
import { Counter } from 'k6/metrics';
import type { Options } from 'k6/options';

import { SERVICES } from '../../services/services.ts';
import { type RequestOptions, type Response, send } from './lib/client.ts';
import { requestOf } from './lib/mixed.ts';
import { type Kind, thresholdsOf } from './lib/objectives.ts';
import { COMMON, readCount, readDuration } from './lib/options.ts';

const RATE = readCount('RATE', 300);
const RETRY_SECONDS = __ENV.RETRY_SECONDS ? readCount('RETRY_SECONDS', 0) : 0;

/** A request without an `Idempotency-Key` cannot be repeated: it might create a second user. */
const CREATING: readonly Kind[] =
  RETRY_SECONDS > 0 ? ['POST /api/v2/users'] : ['POST /api/v2/users', 'POST /api/v1/users'];
/** Requests to every version of every service. */
const READING: readonly Kind[] = [
  'GET /api/v1/users/:id',
  ...SERVICES.flatMap(({ name, versions }) =>
    versions.map((version): Kind => `GET /api/${version}/${name}`),
  ),
];

/** A steady stream of single requests, none of which may fail while the system changes. */
export const options: Options = {
  scenarios: {
    stream: {
      executor: 'constant-arrival-rate',
      rate: RATE,
      duration: readDuration('150s'),
      // Enough for responses that take 5 s: a virtual user that k6 creates on demand starts too late.
      preAllocatedVUs: (5 + RETRY_SECONDS) * RATE,
    },
  },
  thresholds: {
    ...thresholdsOf([...CREATING, ...READING], {
      failedRate: RETRY_SECONDS > 0 ? 1 : 0,
      factor: 4,
    }),
    requests_lost: ['count==0'],
  },
  ...COMMON,
};

const creationsSent = new Counter('creations_sent');
const usersCreated = new Counter('users_created');
const requestsLost = new Counter('requests_lost');

/** Creates the user of the read requests; returns the id. */
export function setup(): string {
  const id = create('POST /api/v2/users');
  if (!id) throw new Error('Cannot create the user for the read requests');
  return id;
}

/** Sends one request; every second one creates a user. */
export default function stream(id: string): void {
  const number = scenario.iterationInTest;
  const turn = Math.floor(number / 2);
  if (number % 2 === 0) {
    create(CREATING[turn % CREATING.length]!);
  } else {
    const kind = READING[turn % READING.length]!;
    sendOrRepeat(kind, requestOf(kind, id));
  }
}

/** Creates a user and returns its id; with `LEDGER`, logs each user of a response with 201. */
function create(kind: Kind): string | undefined {
  creationsSent.add(1);
  const request = requestOf(kind);
  const response = sendOrRepeat(kind, request);
  if (!response) return undefined;
  const id = String(response.json('data.id'));
  const { email, name } = request.body as { readonly email: string; readonly name: string };
  // k6 may stop between two statements: every counted user is in the log.
  if (__ENV.LEDGER) console.log(`created ${id} ${email} ${name}`);
  usersCreated.add(1);
  return id;
}

/** With `RETRY_SECONDS`, repeats a request that failed, as a client does during an outage. */
function sendOrRepeat(kind: Kind, request: RequestOptions): Response | undefined {
  const endMs = Date.now() + RETRY_SECONDS * 1_000;
  for (;;) {
    const response = send(kind, request);
    if (response) return response;
    if (Date.now() >= endMs) break;
    sleep(1);
  }
  requestsLost.add(1);
  return undefined;
}
