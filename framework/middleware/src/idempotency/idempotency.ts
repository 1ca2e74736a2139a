import { hash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { annotate, type Context, type Guard, markFactories, type Next } from '@fw/core';
import { hasBody } from '@fw/core/body';
import { allowReplacement, statusOf, warnOnce } from '@fw/core/extension';
import {
  aBoolean,
  aFunction,
  aWholeNumber,
  check,
  milliseconds,
  required as needed,
  readOptions,
} from '@fw/core/options';
import { ConflictError, UnprocessableContentError, ValidationError } from '@fw/errors';

import { replayResponse, serializeResponse } from './saved-response.ts';
import {
  type Attempt,
  type ClaimStore,
  type IdempotencyStore,
  keyInUse,
  type Saved,
  type TransactionStore,
} from './store.ts';

export { type MemoryStoreOptions, memoryStore } from './memory-store.ts';
export * from './store.ts';

/** The idempotency key of a request: `ctx.state.idempotency`. */
export interface Idempotency<Transaction = unknown> {
  /** `undefined` if the request has none. */
  readonly key: string | undefined;
  /**
   * Stores the response in the transaction of the handler. Send the response first, with `ctx.json()` or
   * `ctx.send()`: only its record is stored. With `value`, that text is stored instead, and the option
   * `replay` sends the response to a repeated request. If the transaction runs again, its response and its
   * call replace the earlier ones. With a store without transactions, such as `memoryStore()`, the response is
   * stored after the handler. Without a key, the call has no effect.
   *
   * @throws {ConflictError} if a concurrent request with the key was faster: roll back
   * @throws {TypeError} if the response is a stream, or larger than `maxResponseBytes`: roll back
   */
  save(transaction: Transaction, value?: string): void | Promise<void>;
}

declare module '@fw/core' {
  interface State {
    /** The idempotency key of this request, set by `idempotency`. */
    idempotency?: Idempotency;
  }
}

export interface IdempotencyOptions<Transaction> {
  readonly store: IdempotencyStore<Transaction>;
  /** Whether a request without a key gets 400. Default: it is handled without repetition. */
  readonly required?: boolean;
  /** Returns who uses the key: others cannot get the response. Default: `ctx.state.user.id`, or all clients. */
  readonly scope?: (ctx: Context) => string;
  /**
   * Returns what must be the same in a repeated request, or a promise of it. Default: method, target and
   * `ctx.body`. Required if the body contains files.
   */
  readonly fingerprint?: (ctx: Context) => unknown;
  /**
   * Whether a store with transactions looks the key up before the handler runs, or only if the handler fails: then it
   * must not have effects outside of its transaction. Default true.
   */
  readonly lookUpFirst?: boolean;
  /** How long a response is stored, in milliseconds; the same for all routes with one table. Default 24 hours. */
  readonly retentionMs?: number;
  /** How long a request waits for the first request with its key, in milliseconds; then 409. Default 5,000. */
  readonly waitMs?: number;
  /** Maximum size of a stored body, in bytes. Default 64 KiB. */
  readonly maxResponseBytes?: number;
  /** Sends the response to a repeated request, from the value that `save` stored. Default: as stored. */
  readonly replay?: (ctx: Context, value: string) => unknown;
  /** Milliseconds since 1970. Default: `Date.now`. */
  readonly clock?: () => number;
}

const aStore = check(
  'a store, such as memoryStore()',
  (value) => typeof value === 'object' && value !== null && ('claim' in value || 'find' in value),
);

const DAY_MS = 24 * 60 * 60 * 1_000;
const KEY = /^[\x21-\x7e]{1,255}$/;
/** Stored for a response that cannot be stored, so that its request is not handled again. */
const NOT_STORED = '\0';

/**
 * Handles a request with an `Idempotency-Key` once: repeating it returns the first response. Register it
 * after authentication, body parser and validation. A response below 400 is stored; after an error, the
 * request can be repeated with the same key. (draft-ietf-httpapi-idempotency-key-header-07)
 *
 * ```ts
 * router.post('/payments', json(), idempotency({ store: memoryStore() }), pay);
 * ```
 *
 * With `memoryStore()` and `redisStore()`, the response is stored after the handler. With a store of
 * `@fw/service`, the handler calls `ctx.state.idempotency.save(transaction)`: the work and its response
 * are committed together or not at all.
 *
 * @throws {TypeError} if an option is unknown or has an invalid value
 */
export function idempotency<Transaction = unknown>(
  options: IdempotencyOptions<Transaction>,
): Guard<{ idempotency: Idempotency<Transaction> }> {
  const {
    store,
    required = false,
    scope = scopeOf,
    fingerprint = fingerprintOf,
    lookUpFirst = true,
    retentionMs = DAY_MS,
    waitMs = 5_000,
    maxResponseBytes = 64 * 1024,
    replay = replayResponse,
    clock = Date.now,
  } = readOptions<IdempotencyOptions<Transaction>>('idempotency()', options, {
    store: needed(aStore),
    required: aBoolean,
    scope: aFunction,
    fingerprint: aFunction,
    lookUpFirst: aBoolean,
    retentionMs: aWholeNumber(1, 365 * DAY_MS),
    waitMs: milliseconds,
    maxResponseBytes: aWholeNumber(0, 2 ** 24),
    replay: aFunction,
    clock: aFunction,
  });
  const handle =
    'claim' in store ? handleClaimed(store, waitMs) : handleInTransaction(store, lookUpFirst);

  return annotate(
    async (ctx: Context, next: Next): Promise<unknown> => {
      const key = ctx.get('idempotency-key');
      if (key === undefined && !required) {
        ctx.state.idempotency = { key, save() {} };
        return next();
      }
      if (key === undefined || !KEY.test(key)) throw malformed(key);
      const attempt = {
        key: withScope(scope(ctx), key),
        fingerprint: hash('sha256', toJson(await fingerprint(ctx)), 'base64url'),
        owner: randomUUID(),
        nowMs: clock(),
        retentionMs,
      };
      return handle(ctx, next, {
        attempt,
        serialize: () => serializeResponse(ctx, maxResponseBytes),
        async replay(saved) {
          if (saved.response === undefined) return false; // it may fail, and free the key for others
          if (saved.fingerprint !== attempt.fingerprint) throw reused();
          if (saved.response === NOT_STORED) throw notStored();
          allowReplacement(ctx);
          await replay(ctx, saved.response);
          return true;
        },
      });
    },
    describe(required, retentionMs, 'claim' in store),
  );
}

interface Handling {
  readonly attempt: Attempt;
  /** Returns the recorded response; `undefined` if it cannot be stored. */
  readonly serialize: () => string | undefined;
  /**
   * Sends the stored response; returns `false` while the first request is in progress.
   *
   * @throws {UnprocessableContentError} if it is that of another request
   */
  readonly replay: (saved: Saved) => Promise<boolean>;
}

type Handle = (ctx: Context, next: Next, handling: Handling) => Promise<void>;

/** The longest pause between two looks at a key that is in use. */
const MAX_PAUSE_MS = 200;

/** Claims the key, handles the request and stores its response. */
function handleClaimed(store: ClaimStore, waitMs: number): Handle {
  /** Returns whether the key is claimed; if not, the first response was sent. */
  async function claim(ctx: Context, { attempt, replay }: Handling): Promise<boolean> {
    const endMs = performance.now() + waitMs;
    for (let pauseMs = 5; ; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
      const saved = await store.claim(attempt);
      if (!saved) return true;
      if (await replay(saved)) return false;
      if (performance.now() + pauseMs > endMs) throw keyInUse();
      await sleep(pauseMs, undefined, { signal: ctx.signal });
    }
  }

  return async (ctx, next, handling) => {
    const { attempt, serialize } = handling;
    if (!(await claim(ctx, handling))) return;
    let value: string | undefined;
    ctx.state.idempotency = {
      key: attempt.key,
      save: (_transaction, text) => {
        allowReplacement(ctx);
        value = text;
      },
    };
    /** The work is done or not: an unavailable store cannot change the response. */
    const settle = (settling: Promise<unknown>) =>
      settling.catch((error: unknown) => {
        ctx.log.error(`${ctx.method} ${ctx.path} could not store its response`, error);
      });
    try {
      await next();
    } catch (error) {
      await settle(store.release(attempt));
      throw error;
    }
    // A response that was already sent, such as that of timeout(), says nothing about the work.
    if (ctx.status >= 400 && !ctx.raw.res.headersSent) {
      await settle(store.release(attempt));
      return;
    }
    const response = value ?? serialize();
    if (response === undefined) warnNotStored(ctx);
    const isStored = await settle(store.finish(attempt, response ?? NOT_STORED));
    if (isStored === false) {
      ctx.log.error(`${ctx.method} ${ctx.path} took longer than the claim of its Idempotency-Key`);
    }
  };
}

/** Handles the request, whose handler stores the response in its transaction. */
function handleInTransaction<T>(store: TransactionStore<T>, lookUpFirst: boolean): Handle {
  return async (ctx, next, { attempt, serialize, replay }) => {
    const known = lookUpFirst ? await store.find(attempt) : undefined;
    if (known && (await replay(known))) return;
    let isSaved = false;
    ctx.state.idempotency = {
      key: attempt.key,
      save(transaction, value) {
        const hasResponse = ctx.responded || ctx.status === 204;
        const response = value ?? (hasResponse ? serialize() : undefined);
        if (response === undefined) throw unstorable();
        isSaved = true;
        allowReplacement(ctx);
        return store.save(transaction as T, attempt, response);
      },
    };
    try {
      await next();
    } catch (error) {
      // Another request with the same key may be the reason: then its response is the result.
      const other = !lookUpFirst || statusOf(error) < 500 ? await store.find(attempt) : undefined;
      if (!other || !(await replay(other))) throw error;
      return;
    }
    if (!isSaved && ctx.status < 400) warnNotSaved(ctx);
  };
}

function scopeOf({ state }: Context): string {
  return state.user ? state.user.id : '';
}

/** A key contains no space, so that the scope cannot be confused with it. */
function withScope(scope: unknown, key: string): string {
  if (typeof scope === 'string') return scope === '' ? key : `${scope} ${key}`;
  throw new TypeError(`Cannot scope a key by "${String(scope)}": scope must return a text`);
}

/** @throws {TypeError} if the request has a body that was not parsed: all bodies would be equal */
function fingerprintOf({ method, url, body, raw }: Context): unknown {
  if (body === undefined && hasBody(raw.req)) {
    throw new TypeError(
      `Cannot compare the body of ${method} ${url}: register a body parser before idempotency(), or set its option fingerprint`,
    );
  }
  return [method, url, body instanceof Uint8Array ? hash('sha256', body) : body];
}

/** @throws {TypeError} if a value is `{}` in JSON regardless of its content, such as a file or a `Map` */
function toJson(fingerprint: unknown): string {
  const text = JSON.stringify(fingerprint) ?? '';
  if (text.includes('{}')) JSON.stringify(fingerprint, (_name, value) => checkContent(value));
  return text;
}

function checkContent(value: unknown): unknown {
  const type = Object.prototype.toString.call(value).slice(8, -1);
  const isPlain = typeof value !== 'object' || ['Null', 'Object', 'Array'].includes(type);
  if (isPlain || Object.keys(Object(value)).length > 0) return value;
  throw new TypeError(`Cannot compare a ${type}: set the option fingerprint of idempotency()`);
}

const EXPECTED = 'Expected 1 to 255 visible ASCII characters';

function malformed(key: string | undefined): ValidationError {
  const detail = key === undefined ? 'Required' : EXPECTED;
  return new ValidationError([{ in: 'headers', pointer: '/idempotency-key', detail }]);
}

function reused(): UnprocessableContentError {
  return new UnprocessableContentError('Idempotency-Key was used with another request');
}

function notStored(): ConflictError {
  return new ConflictError(
    'The request with this Idempotency-Key was processed, but its response was not stored',
    { code: 'RESPONSE_NOT_STORED' },
  );
}

const LIMIT = 'a body of known size up to maxResponseBytes';

function unstorable(): TypeError {
  return new TypeError(`Cannot store the response: send one before save(), with ${LIMIT}`);
}

function warnNotStored(ctx: Context): void {
  warn(ctx, `sent a response that cannot be stored: repeated requests get 409; send ${LIMIT}`);
}

function warnNotSaved(ctx: Context): void {
  warn(
    ctx,
    'stored no response: repeated requests are handled again; call ctx.state.idempotency.save(transaction)',
  );
}

function warn(ctx: Context, problem: string): void {
  const route = `${ctx.method} ${ctx.route?.path ?? ctx.path}`;
  warnOnce(ctx.log, `${route} idempotency`, `${route} ${problem}`);
}

/** The header and the errors for the OpenAPI document. */
function describe(required: boolean, retentionMs: number, hasClaims: boolean) {
  const minutes = Math.ceil(retentionMs / 60_000);
  const isHours = minutes > 60 && minutes % 60 === 0;
  const amount = isHours ? `${minutes / 60} hours` : `${minutes} minutes`;
  const time = retentionMs === DAY_MS ? 'a day' : amount;
  const schema = {
    description: `Any unique value: repeating the request with the same body within ${time} returns the first response and changes nothing`,
    examples: ['8e03978e-40d5-43dd-bc93-6894a57f9324'],
    type: 'string',
    pattern: KEY.source,
  };
  return {
    requestHeaders: { 'idempotency-key': { schema, required } },
    errors: [
      { status: 409, code: 'KEY_IN_USE' },
      ...(hasClaims ? [{ status: 409, code: 'RESPONSE_NOT_STORED' }] : []),
    ],
    responses: {
      400: {},
      ...(hasClaims && {
        409: {
          description: 'The first request with this `Idempotency-Key` is in progress',
          headers: { 'Retry-After': 'Seconds to wait before the next request' },
        },
      }),
      422: { description: 'The `Idempotency-Key` was used with another request' },
    },
  };
}

markFactories({ idempotency });
