import { hash, randomUUID } from 'node:crypto';
import { annotate, type Context, type Guard } from '@fw/core';
import { setCacheDefault } from '@fw/core/extension';
import {
  aFunction,
  anObjectWith,
  aWholeNumber,
  check,
  readOptions,
  required,
} from '@fw/core/options';
import { UnauthorizedError } from '@fw/errors';
import { memoryStore } from './idempotency/memory-store.ts';
import type { ClaimStore } from './idempotency/store.ts';
import { readSecrets } from './shared/cookie-secrets.ts';
import { createSealer } from './shared/sealed-text.ts';

/** What `createTickets` returns. */
export interface Tickets<User> {
  /**
   * Creates a ticket for one request of `user`: what JSON can represent, about 2,900 bytes of it.
   *
   * @throws {TypeError} if the ticket would have more than 4,096 characters, which proxies reject in a URL
   */
  create(user: User): string;
  /** Requires a ticket in `?ticket=`, which is then used up, and sets `ctx.state.user`. */
  readonly guard: Guard<{ readonly user: User }>;
}

export interface TicketsOptions {
  /** What the tickets are for, such as `events`. Tickets for anything else get 401. */
  readonly audience: string;
  /**
   * Secrets of at least 32 random bytes, the same for all replicas. The first one encrypts, all of them decrypt:
   * to replace a secret, put the new one first.
   */
  readonly secrets: readonly string[];
  /** How long a ticket can be used, in seconds. Default 30. */
  readonly maxAgeSeconds?: number;
  /** Stores which tickets were used. Default: in the memory of this process, up to 64 MiB. */
  readonly store?: ClaimStore;
  /** Returns the current time, for tests. Default: that of the system. */
  readonly now?: () => Date;
}

const OWNER = 'createTickets()';
const CHECKS = {
  audience: required(check('a name', (value) => typeof value === 'string' && value !== '')),
  secrets: required(check('a list', () => true)), // `readSecrets` checks it: errors contain no secret
  maxAgeSeconds: aWholeNumber(1, 300),
  store: anObjectWith('a store, such as memoryStore()', ['claim', 'finish']),
  now: aFunction,
};

const MAX_LENGTH = 4_096;

/**
 * Creates tickets for requests that cannot have an `Authorization` header: those of `EventSource` and `WebSocket`
 * in browsers. A ticket opens one connection, within seconds, and contains its user, encrypted.
 *
 * ```ts
 * const tickets = createTickets<TokenUser>({ audience: 'events', secrets: [secret] });
 * router.post('/tickets', authenticate, (ctx) => ({ ticket: tickets.create(ctx.state.user) }));
 * router.get('/events', tickets.guard, sse(events));
 * ```
 *
 * @throws {TypeError} if an option is invalid, or a secret has less than 32 bytes; the message contains no
 *   secret
 */
export function createTickets<User extends { readonly id: string }>(
  options: TicketsOptions,
): Tickets<User> {
  const {
    audience,
    secrets,
    maxAgeSeconds = 30,
    store = memoryStore(),
    now = () => new Date(),
  } = readOptions(OWNER, options, CHECKS);
  const maxAgeMs = maxAgeSeconds * 1_000;
  const sealer = createSealer(readSecrets(secrets, 'Cannot create tickets'), `ticket ${audience}`);

  /** Returns the user of a ticket, once. */
  async function redeem(ctx: Context): Promise<User> {
    const { ticket } = ctx.query;
    if (ticket === undefined) throw new UnauthorizedError('a ticket is required');
    const isText = typeof ticket === 'string' && ticket.length <= MAX_LENGTH;
    const opened = isText ? sealer.open(ticket) : undefined;
    if (!isText || !opened) throw new UnauthorizedError('the ticket is not valid');
    const [user, endMs]: [User, number] = JSON.parse(opened.text);
    const nowMs = now().getTime();
    if (nowMs >= endMs) throw new UnauthorizedError('the ticket has expired');
    const attempt = {
      key: `ticket ${hash('sha256', ticket, 'base64url')}`,
      fingerprint: '',
      owner: randomUUID(),
      nowMs,
      retentionMs: 2 * maxAgeMs, // the clocks of replicas may differ
    };
    if (await store.claim(attempt)) throw new UnauthorizedError('the ticket was used before');
    await store.finish(attempt, '');
    return user;
  }

  const guard: Guard<{ readonly user: User }> = async (ctx, next) => {
    Object.assign(ctx.state, { user: await redeem(ctx) });
    setCacheDefault(ctx, 'no-store'); // a cache would send it without a check of the ticket
    await next();
  };
  annotate(guard, {
    security: [{ ticket: [] }],
    securitySchemes: { ticket: { type: 'apiKey', in: 'query', name: 'ticket' } },
  });

  return {
    guard,
    create(user) {
      const ticket = sealer.seal(JSON.stringify([user, now().getTime() + maxAgeMs]));
      if (ticket.length <= MAX_LENGTH) return ticket;
      throw new TypeError(
        `Cannot create a ticket of ${ticket.length} characters: expected a smaller user, for at most ${MAX_LENGTH}`,
      );
    },
  };
}
