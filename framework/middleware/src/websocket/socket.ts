import { loadOptional } from '@fw/core/extension';
import type { RawData } from 'ws';

export const { WebSocket, WebSocketServer } = loadOptional('ws', {
  user: 'websocket()',
  from: import.meta.url,
  bundled: (): typeof import('ws') => require('ws'),
});
export type WebSocket = import('ws').WebSocket;

/** What a socket reports to its session. */
export interface SocketListener {
  pinged(data: Buffer): void;
  ponged(): void;
  received(data: Buffer, isBinary: boolean): void;
  disconnected(code: number): void;
}

/** A WebSocket that knows the code of the close frame that it sent, also if the package ws did. */
export class ClientSocket extends WebSocket {
  sentCode: number | undefined = undefined;
  listener: SocketListener | undefined = undefined;

  reportTo(listener: SocketListener): void {
    this.listener = listener;
    this.on('ping', onPing).on('pong', onPong).on('message', onMessage).on('close', onClose);
    this.on('error', ignore); // ws closes the connection with the code of the error
  }

  override close(code?: number, reason?: string | Buffer): void {
    const isOpen = this.readyState === WebSocket.OPEN;
    super.close(code, reason);
    if (isOpen) this.sentCode = code;
  }
}

// The same functions for all sockets: closures would stay in memory with each of them.
function onPing(this: WebSocket, data: Buffer): void {
  (this as ClientSocket).listener?.pinged(data);
}

function onPong(this: WebSocket): void {
  (this as ClientSocket).listener?.ponged();
}

function onMessage(this: WebSocket, data: RawData, isBinary: boolean): void {
  (this as ClientSocket).listener?.received(data as Buffer, isBinary);
}

function onClose(this: WebSocket, code: number): void {
  const { listener, sentCode } = this as ClientSocket;
  listener?.disconnected(sentCode ?? code);
}

function ignore(): void {}

/** Creates the server that upgrades connections to a `ClientSocket`. */
export function createSocketServer(maxMessageBytes: number, protocols: readonly string[]) {
  // A message in smaller pieces than 512 bytes, of which one may be empty, costs more memory than its bytes.
  const maxPieces = 1_024 + Math.ceil(maxMessageBytes / 512);
  const options = {
    noServer: true,
    clientTracking: false,
    autoPong: false, // the session replies: ws would drop a client without a close frame after 60 pings
    WebSocket: ClientSocket,
    perMessageDeflate: false, // a short message could become very long, and each client needs 300 kB
    maxPayload: maxMessageBytes,
    maxFragments: maxPieces,
    maxBufferedChunks: maxPieces,
    closeTimeout: 5_000,
    handleProtocols: (offered: ReadonlySet<string>) =>
      [...offered].find((name) => protocols.includes(name)) ?? false,
  };
  return new WebSocketServer<typeof ClientSocket>(options);
}
