import type { Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';

import type { Application } from '../application.ts';
import {
  anObject,
  aString,
  aWholeNumber,
  milliseconds,
  readOptions,
  required,
} from '../options.ts';
import { type CloseOptions, closeServer } from './close.ts';
import { connections } from './connections.ts';
import { createServer, type ServerOptions, type TlsOptions } from './create-server.ts';

/** The address of a server, and how it handles connections. */
export interface ListenOptions extends ServerOptions {
  /** 0 selects a free port. */
  readonly port: number;
  /** Default `127.0.0.1`; use `0.0.0.0` or `::` in a container. */
  readonly host?: string;
}

/** A started server. */
export interface ListeningServer<NodeServer extends Server = Server> {
  /** The port, also if the option was 0. */
  readonly port: number;
  /** Node's server: an `https.Server` with the option `tls`, else an `http.Server`. */
  readonly server: NodeServer;
  /** Aborts when `close()` starts to close connections: then close WebSockets and event streams. */
  readonly closing: AbortSignal;
  /**
   * Stops accepting connections, waits until every response is sent, and resolves when every
   * connection is closed. At the time limit, destroys the connections that are still open.
   *
   * @throws {TypeError} if an option is invalid
   */
  close(options?: CloseOptions): Promise<void>;
}

/** Starts an HTTPS server for `app`. `server.setSecureContext()` replaces its certificate. */
export function listen(
  app: Application,
  options: ListenOptions & { readonly tls: TlsOptions },
): Promise<ListeningServer<HttpsServer>>;
/**
 * Starts a server for `app`. Resolves once every plugin has finished and the server accepts
 * connections.
 *
 * @throws {TypeError} if an option is unknown or its value is invalid
 * @throws {Error} with the address, if the server cannot listen on it
 */
export function listen(app: Application, options: number | ListenOptions): Promise<ListeningServer>;
export async function listen(
  app: Application,
  options: number | ListenOptions,
): Promise<ListeningServer> {
  const {
    port,
    host = '127.0.0.1',
    ...serverOptions
  } = readOptions('listen()', typeof options === 'object' ? options : { port: options }, {
    port: required(aWholeNumber(0, 65_535)),
    host: aString,
    keepAliveTimeoutMs: milliseconds,
    headersTimeoutMs: milliseconds,
    requestTimeoutMs: milliseconds,
    writeTimeoutMs: milliseconds,
    tls: anObject,
  });
  await app.ready();
  const server = createServer(app, serverOptions);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = REASONS[error.code ?? ''] ?? error.message;
      reject(new Error(`Cannot listen on ${host}:${port}: ${reason}`, { cause: error }));
    });
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  app.logger.info(`Listening on ${serverOptions.tls ? 'https' : 'http'}://${hostOf(address)}`);
  let closed: Promise<void> | undefined;
  return {
    port: address.port,
    server,
    closing: connections(server).closing,
    close(closeOptions) {
      closed ??= closeServer(server, app.logger, closeOptions);
      return closed;
    },
  };
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'this user may not use the port',
  EADDRNOTAVAIL: 'this machine does not have this address',
  ENOTFOUND: 'the host name is unknown',
};

function hostOf({ address, family, port }: AddressInfo): string {
  return `${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
