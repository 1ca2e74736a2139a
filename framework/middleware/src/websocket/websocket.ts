import { annotate, type Context, type Middleware, markFactories, type Parts } from '@fw/core';
import { trimBlanks } from '@fw/core/body';
import { acceptUpgrades, isUpgrade, switchProtocols } from '@fw/core/extension';
import {
  aFunction,
  aListOf,
  aWholeNumber,
  type Check,
  check,
  milliseconds,
  readOptions,
} from '@fw/core/options';
import { isStandardSchema, type StandardSchema } from '@fw/core/schema';
import { BadRequestError, ForbiddenError, HttpError, ServiceUnavailableError } from '@fw/errors';

import { aMaxAge, HOUR_MS, type MaxAge, maxAgeOf } from '../shared/connection-age.ts';
import { anOrigin, isListed, isOwnOrigin } from '../shared/origin.ts';
import { aToken, isToken } from '../shared/token.ts';
import type { WebSocketHandlers } from './client.ts';
import { WebSocketSession } from './session.ts';
import { createSocketServer } from './socket.ts';

export type { MessageOf, WebSocketClient } from './client.ts';

/** What a route does with its clients, and their limits. */
export interface WebSocketOptions<P extends Parts, Schema> extends WebSocketHandlers<P, Schema> {
  /**
   * The origins whose pages may connect, besides that of the requested host; `'*'` for all. Clients that
   * are no browser send no `Origin`, and may always connect. Default: none.
   */
  readonly origins?: '*' | readonly string[];
  /** Subprotocols, of which the first one that the client offers is selected. Default: none is. */
  readonly protocols?: readonly string[];
  /** Maximum number of clients of the route; a further one gets 503. Default 1,000. */
  readonly maxClients?: number;
  /** Maximum size of a message; for a longer one the code is 1009. Default 64 KiB. */
  readonly maxMessageBytes?: number;
  /** Maximum number of messages, pings and pongs of a client per second; else the code is 1008. Default 100. */
  readonly maxMessagesPerSecond?: number;
  /** Maximum number of bytes that wait for a client that reads slowly; above, the code is 1013. Default 1 MiB. */
  readonly maxUnsentBytes?: number;
  /** Time between pings; a client that does not reply to one before the next is disconnected. Default 15 s; 0: none. */
  readonly pingMs?: number;
  /**
   * How long a connection may last; then the code is 1001, with which clients connect again. A function
   * returns the time that is left, for example until a token expires. Default an hour.
   */
  readonly maxAgeMs?: MaxAge<P>;
}

const someOrigins = aListOf('"*" or a list of origins such as "https://app.example.com"', anOrigin);
const allOrOrigins: Check = {
  ...someOrigins,
  accepts: (value) => value === '*' || someOrigins.accepts(value),
};

/**
 * Handles a GET route with WebSockets (RFC 6455). The middleware before it, such as guards and limiters,
 * runs before the connection is upgraded, and rejects it with an ordinary response. Messages that are
 * no JSON are closed with 1007, those that do not fit the schema with 1008. When the server starts to
 * close, the clients get the code 1001, spread over `lingerMs` of `close()`. Messages are not compressed.
 *
 * ```ts
 * router.get('/echo/:name', websocket({
 *   schema: z.object({ text: z.string() }),
 *   message: (client, { text }) => client.send({ [client.ctx.params.name]: text }),
 * }));
 * ```
 *
 * It needs the package `ws`, and a server of `listen()`.
 *
 * @throws {TypeError} if an option is invalid
 */
export function websocket<
  P extends Parts = Parts,
  Schema extends StandardSchema | undefined = undefined,
>(options: WebSocketOptions<P, Schema>): Middleware<P> {
  const {
    origins = [],
    protocols = [],
    maxClients = 1_000,
    maxMessageBytes = 65_536,
    maxMessagesPerSecond = 100,
    maxUnsentBytes = 1_048_576,
    pingMs = 15_000,
    maxAgeMs = HOUR_MS,
    ...handlers
  } = readOptions('websocket()', options, {
    schema: check('a Standard Schema', isStandardSchema),
    open: aFunction,
    message: aFunction,
    close: aFunction,
    origins: allOrOrigins,
    protocols: aListOf('a list of names of subprotocols', aToken),
    maxClients: aWholeNumber(1, 1_000_000),
    maxMessageBytes: aWholeNumber(1, 2 ** 30),
    maxMessagesPerSecond: aWholeNumber(1, 1_000_000),
    maxUnsentBytes: aWholeNumber(1, 2 ** 30),
    pingMs: milliseconds,
    maxAgeMs: aMaxAge,
  });
  acceptUpgrades();
  const server = createSocketServer(maxMessageBytes, protocols);
  let clients = 0;
  const release = () => clients--;
  const route = { handlers, maxMessagesPerSecond, maxUnsentBytes, pingMs, release };
  const handle: Middleware<P> = (ctx) => {
    checkHandshake(ctx);
    checkOrigin(ctx, origins);
    const ageMs = maxAgeOf(maxAgeMs, ctx);
    const session = new WebSocketSession<P, Schema>(ctx, route);
    switchProtocols(ctx, ({ socket, head, headers }) => {
      if (clients >= maxClients) {
        const retry = { 'Retry-After': '5' };
        throw new ServiceUnavailableError(`More than ${maxClients} WebSockets`, { headers: retry });
      }
      server.once('headers', (lines) => lines.push(...headers));
      server.handleUpgrade(ctx.raw.req, socket, head, (client) => session.begin(client, ageMs));
      clients++;
      return session;
    });
  };
  return annotate(handle, {
    responses: {
      101: { description: 'The connection is a WebSocket' },
      400: {},
      403: { description: 'The origin of the page may not connect' },
      426: { description: 'The request does not ask for a WebSocket of version 13' },
      503: {},
    },
  });
}

/** 16 bytes in Base64 (RFC 6455 §4.1). */
const KEY = /^[+/\dA-Za-z]{22}==$/;

/** @throws {HttpError} if the request is not the handshake of RFC 6455 §4.2.1 */
function checkHandshake(ctx: Context): void {
  if (!isUpgrade(ctx)) throw upgradeRequired('This resource is a WebSocket');
  if (ctx.get('sec-websocket-version') !== '13') {
    throw upgradeRequired('The version of WebSocket must be 13');
  }
  if (!KEY.test(ctx.get('sec-websocket-key') ?? '')) {
    throw new BadRequestError('Sec-WebSocket-Key must be 16 bytes in Base64');
  }
  const names = ctx.get('sec-websocket-protocol')?.split(',').map(trimBlanks) ?? [];
  if (!names.every(isToken) || new Set(names).size < names.length) {
    throw new BadRequestError('Sec-WebSocket-Protocol must be a list of different tokens');
  }
}

/** RFC 9110 §15.5.22; RFC 6455 §4.4. */
function upgradeRequired(message: string): HttpError {
  const version = { 'Sec-WebSocket-Version': '13' };
  const headers = { Upgrade: 'websocket', Connection: 'Upgrade, close', ...version };
  return new HttpError(426, message, { headers });
}

/**
 * Pages of other sites could otherwise connect with the cookies of their visitor: browsers do not ask for
 * permission, as they do with CORS.
 *
 * @throws {ForbiddenError}
 */
function checkOrigin(ctx: Context, origins: '*' | readonly string[]): void {
  const origin = ctx.get('origin');
  if (origin === undefined || origins === '*') return;
  if (isListed(origins, origin) || isOwnOrigin(ctx, origin)) return;
  throw new ForbiddenError('Pages of this origin may not connect');
}

markFactories({ websocket });
