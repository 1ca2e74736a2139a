import { AsyncResource } from 'node:async_hooks';
import { Readable } from 'node:stream';
import {
  annotate,
  type Context,
  createPartSerializer,
  type Middleware,
  markFactories,
  type Parts,
  type Sent,
} from '@fw/core';
import { closingSignal, setCacheDefault, stringify } from '@fw/core/extension';
import { anObject, aWholeNumber, badOption, milliseconds, readOptions } from '@fw/core/options';
import {
  isStandardSchema,
  type JsonSchema,
  type OutputOf,
  type StandardSchema,
} from '@fw/core/schema';
import { ServiceUnavailableError } from '@fw/errors';

import { aMaxAge, HOUR_MS, type MaxAge, maxAgeOf } from './shared/connection-age.ts';

/** One event of a stream. */
export interface ServerSentEvent {
  /** A string is sent unchanged, any other value as JSON. Without data, browsers run no listener. */
  readonly data?: unknown;
  /** The name of the event. Default `message`. */
  readonly event?: string;
  /** The client sends the id of its last event when it reconnects. */
  readonly id?: string;
  /** How long the client waits before it reconnects, in milliseconds. Default: the browser's, about 3 s. */
  readonly retryMs?: number;
}

/** One client that receives events. */
export interface EventClient {
  /** The id of the last event that the client received before it reconnected; empty for a new client. */
  readonly lastEventId: string;
  /** Aborts when the stream ends: the client has disconnected, its time is over, or the server closes. */
  readonly signal: AbortSignal;
}

/** Returns the events for a client, usually as an async generator. */
export type EventSource<P extends Parts = Parts, Event = ServerSentEvent> = (
  ctx: Context<P>,
  client: EventClient,
) => AsyncIterable<Event>;

/** The schema of the data of each event, by the name of the event. */
export type EventSchemas = Readonly<Record<string, StandardSchema | JsonSchema>>;

/** An event that fits the schemas. */
export type DeclaredEvent<Schemas extends EventSchemas> = {
  readonly [Name in keyof Schemas & string]: ServerSentEvent & {
    readonly event: Name;
    readonly data: Sent<OutputOf<Schemas[Name]>>;
  };
}[keyof Schemas & string];

export interface SseOptions<P extends Parts = Parts> {
  /** Time between comments that keep an idle connection open. Default 15 s; 0: none. */
  readonly heartbeatMs?: number;
  /** Maximum number of clients; a further one gets 503. Default 1,000. */
  readonly maxClients?: number;
  /**
   * How long a stream may last; then it ends, and clients connect again. A function returns the time that
   * is left, for example until a token expires. Default an hour.
   */
  readonly maxAgeMs?: MaxAge<P>;
}

/**
 * Handles a route with a stream of server-sent events (WHATWG HTML §9.2). The next event is requested
 * when the client has read the previous ones. The stream ends after the last event, when the client
 * disconnects, when it reaches its largest age, or when the server starts to close; browsers reconnect.
 *
 * With schemas, the events are a contract like that of a response: the source can send only these events,
 * exactly the declared fields of their data become JSON, and an OpenAPI 3.2 document describes them.
 *
 * ```ts
 * router.get('/ticks', sse({ tick: z.object({ count: z.int() }) }, async function* (_ctx, { signal }) {
 *   for await (const count of counter(signal)) yield { event: 'tick', data: { count } };
 * }));
 * ```
 *
 * @throws {TypeError} if an option is invalid, or a schema has no JSON Schema form
 */
export function sse<const Schemas extends EventSchemas, P extends Parts = Parts>(
  schemas: Schemas,
  source: EventSource<P, DeclaredEvent<Schemas>>,
  options?: SseOptions<P>,
): Middleware<P>;
export function sse<P extends Parts = Parts>(
  source: EventSource<P>,
  options?: SseOptions<P>,
): Middleware<P>;
export function sse(...args: readonly unknown[]): Middleware {
  const { schemas, source, options } = readArguments(args);
  const {
    heartbeatMs = 15_000,
    maxClients = 1_000,
    maxAgeMs = HOUR_MS,
  } = readOptions('sse()', options, {
    heartbeatMs: milliseconds,
    maxClients: aWholeNumber(1, 1_000_000),
    maxAgeMs: aMaxAge,
  });
  const write = schemas ? createEventWriter(schemas) : writeEvent;
  let clients = 0;
  const handle: Middleware = (ctx) => {
    if (clients >= maxClients) {
      const headers = { 'Retry-After': '5' };
      throw new ServiceUnavailableError(`More than ${maxClients} event streams`, { headers });
    }
    ctx.status = 200;
    setCacheDefault(ctx, 'no-cache');
    ctx.set('Content-Type', 'text/event-stream');
    ctx.set('X-Accel-Buffering', 'no'); // nginx would otherwise collect the events
    if (ctx.method === 'HEAD') return ctx.send('');
    const ageMs = maxAgeOf(maxAgeMs, ctx);
    const abort = new AbortController();
    const client = { lastEventId: lastEventIdOf(ctx), signal: abort.signal };
    const events = requireEvents(source(ctx, client));
    const stream = createEventStream(events, {
      heartbeatMs,
      ageMs,
      write: (event) => write(event, ctx),
      closing: closingSignal(ctx),
      onEnd: () => {
        clients--;
        abort.abort();
      },
    });
    clients++;
    ctx.send(stream);
    return undefined;
  };
  const description = 'Server-sent events';
  return annotate(handle, {
    responses: { 200: { description, mediaTypes: ['text/event-stream'] }, 503: {} },
    ...(schemas && { events: schemas }),
  });
}

/** @throws {TypeError} if the source is missing */
function readArguments(args: readonly unknown[]) {
  const [schemas, source, options = {}] =
    typeof args[0] === 'function' ? [undefined, ...args] : args;
  if (typeof source === 'function') {
    return { schemas, source, options } as {
      readonly schemas: EventSchemas | undefined;
      readonly source: EventSource;
      readonly options: SseOptions;
    };
  }
  throw new TypeError(`Cannot create sse() with the source "${source}": expected async function*`);
}

/** Returns the text of an event. */
type WriteEvent = (event: ServerSentEvent, ctx: Context) => string;

/** Writes events whose data has the declared fields only. @throws {TypeError} if a schema has no JSON form */
function createEventWriter(schemas: EventSchemas): WriteEvent {
  const serializers = new Map(
    Object.entries(schemas).map(([name, schema]) => {
      if (!isStandardSchema(schema) && !anObject.accepts(schema)) {
        throw badOption('sse()', { name, value: schema, expected: 'a schema of the data' });
      }
      return [name, createPartSerializer(schema, `Event "${name}"`)];
    }),
  );
  return (event, ctx) => {
    const serialize = serializers.get(event.event ?? 'message');
    if (serialize) return writeEvent({ ...event, data: serialize(ctx, event.data) });
    const names = [...serializers.keys()].join('", "');
    throw new TypeError(`Cannot send the event "${event.event}": expected one of "${names}"`);
  };
}

/** @throws {TypeError} if the source is not an async generator, but for example an async function */
function requireEvents(events: unknown): AsyncIterable<ServerSentEvent> {
  if (Symbol.asyncIterator in Object(events)) return events as AsyncIterable<ServerSentEvent>;
  if (events instanceof Promise) events.catch(() => {});
  const given = Object.prototype.toString.call(events).slice('[object '.length, -1);
  throw new TypeError(
    `Cannot send events: the source of sse() returned a value of type ${given}; write async function* and yield each event`,
  );
}

/** Browsers send the id in UTF-8; Node reads headers as Latin-1. */
function lastEventIdOf(ctx: Pick<Context, 'get'>): string {
  return Buffer.from(ctx.get('last-event-id') ?? '', 'latin1').toString();
}

interface EventStreamOptions {
  readonly heartbeatMs: number;
  /** Time until the stream ends. */
  readonly ageMs: number;
  readonly write: (event: ServerSentEvent) => string;
  /** Ends the stream when it aborts. */
  readonly closing: AbortSignal;
  /** Called once, when the stream has ended or the client has disconnected. */
  readonly onEnd: () => void;
}

/** A comment, which clients ignore. */
const COMMENT = ':\n\n';

/** The comment after the last event: without it, a client has to reconnect, as `@fw/client` does. */
const END = ':end\n\n';

/** How many bytes of events wait for a client that reads slowly; one event may exceed it. */
const BUFFER_BYTES = 16 * 1024;

/**
 * The text of `events` as a stream, which requests the next event when the client has read the previous
 * ones. It starts with a comment, so that the client gets the head of the response before an event.
 */
function createEventStream(
  events: AsyncIterable<ServerSentEvent>,
  { heartbeatMs, ageMs, write, closing, onEnd }: EventStreamOptions,
): Readable {
  const iterator = events[Symbol.asyncIterator]();
  // Stream events run in the asynchronous context of the connection, not of the request.
  const requestNext = AsyncResource.bind(() => iterator.next());
  const release = async () => iterator.return?.();
  let isWaiting = false;
  let isOver = false;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    clearTimeout(age);
    closing.removeEventListener('abort', finish);
    onEnd();
    release().catch(() => {}); // what the source throws after its end has no effect
  };
  const finish = () => {
    stop();
    stream.push(null);
  };
  const sendNext = async () => {
    const { done, value } = await requestNext();
    isWaiting = false;
    if (isOver) return;
    if (!done) stream.push(write(value));
    else {
      stream.push(END);
      finish();
    }
  };
  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      if (isWaiting || isOver) return;
      isWaiting = true;
      sendNext().catch((error: Error) => {
        if (!isOver) stream.destroy(error);
      });
    },
    destroy(error, done) {
      stop();
      done(error);
    },
  });
  const heartbeat = heartbeatMs > 0 ? setInterval(beat, heartbeatMs, stream).unref() : undefined;
  const age = setTimeout(finish, ageMs).unref();
  stream.push(COMMENT);
  closing.addEventListener('abort', finish, { once: true });
  if (closing.aborted) finish();
  return stream;
}

/** Sends a comment, unless the client has not read what was sent before. */
function beat(stream: Readable): void {
  if (stream.readableLength === 0) stream.push(COMMENT);
}

const LINE_END = /\r\n|\r|\n/;

/**
 * The text of an event (WHATWG HTML §9.2.5).
 *
 * @throws {TypeError} if `event` or `id` has several lines or NUL, `data` has no JSON form, or `retryMs`
 *   is not a whole number
 */
function writeEvent({ data, event, id, retryMs }: ServerSentEvent): string {
  return `${field('id', id)}${field('event', event)}${retry(retryMs)}${dataLines(data)}\n`;
}

function field(name: string, value: string | undefined): string {
  if (value === undefined) return '';
  if (/[\r\n\0]/.test(value)) {
    throw new TypeError(
      `Cannot send an event with the ${name} ${JSON.stringify(value)}: expected one line without NUL`,
    );
  }
  return `${name}: ${value}\n`;
}

function retry(retryMs: number | undefined): string {
  if (retryMs === undefined) return '';
  if (!Number.isSafeInteger(retryMs) || retryMs < 0) {
    throw new TypeError(
      `Cannot send an event with retryMs "${retryMs}": expected a whole number of milliseconds`,
    );
  }
  return `retry: ${retryMs}\n`;
}

function dataLines(data: unknown): string {
  if (data === undefined) return '';
  const text = typeof data === 'string' ? data : stringify(data);
  if (text === undefined) {
    throw new TypeError(
      `Cannot send an event with data of type ${typeof data}: it has no JSON form`,
    );
  }
  return text
    .split(LINE_END)
    .map((line) => `data: ${line}\n`)
    .join('');
}

markFactories({ sse });
