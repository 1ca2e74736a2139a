import { annotate, type Context, type Middleware, markFactories, type Parts } from '@fw/core';
import { closingSignal } from '@fw/core/extension';
import { aWholeNumber, milliseconds, readOptions } from '@fw/core/options';
import { ServiceUnavailableError } from '@fw/errors';

import { createEventStream, type ServerSentEvent } from './event-stream.ts';

export type { ServerSentEvent } from './event-stream.ts';

/** One client that receives events. */
export interface EventClient {
  /** The id of the last event that the client received before it reconnected; empty for a new client. */
  readonly lastEventId: string;
  /** Aborts when the client disconnects or the server starts to close. */
  readonly signal: AbortSignal;
}

/** Returns the events for a client, usually as an async generator. */
export type EventSource<P extends Parts = Parts> = (
  ctx: Context<P>,
  client: EventClient,
) => AsyncIterable<ServerSentEvent>;

export interface SseOptions {
  /** Time between comments that keep an idle connection open. Default 15 s; 0: none. */
  readonly heartbeatMs?: number;
  /** Maximum number of clients; a further one gets 503. Default 1,000. */
  readonly maxClients?: number;
}

/**
 * Handles a route with a stream of server-sent events (WHATWG HTML §9.2). The next event is requested
 * when the client has read the previous ones. The stream ends after the last event, when the client
 * disconnects, or when the server starts to close; browsers reconnect in all three cases.
 *
 * ```ts
 * router.get('/ticks', sse(async function* (_ctx, { signal }) {
 *   for await (const time of setInterval(1_000, undefined, { signal })) yield { data: { time } };
 * }));
 * ```
 *
 * @throws {TypeError} if an option is invalid
 */
export function sse<P extends Parts = Parts>(
  source: EventSource<P>,
  options: SseOptions = {},
): Middleware<P> {
  const { heartbeatMs = 15_000, maxClients = 1_000 } = readOptions('sse()', options, {
    heartbeatMs: milliseconds,
    maxClients: aWholeNumber(1, 1_000_000),
  });
  let clients = 0;
  const handle: Middleware<P> = (ctx) => {
    if (clients >= maxClients) {
      const headers = { 'Retry-After': '5' };
      throw new ServiceUnavailableError(`More than ${maxClients} event streams`, { headers });
    }
    ctx.status = 200;
    ctx.set('Content-Type', 'text/event-stream').set('Cache-Control', 'no-cache');
    ctx.set('X-Accel-Buffering', 'no'); // nginx would otherwise collect the events
    if (ctx.method === 'HEAD') return ctx.send('');
    const abort = new AbortController();
    const client = { lastEventId: lastEventIdOf(ctx), signal: abort.signal };
    const events = requireEvents(source(ctx, client));
    const stream = createEventStream(events, {
      heartbeatMs,
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
  });
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

markFactories({ sse });
