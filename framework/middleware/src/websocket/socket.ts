import { loadOptional } from '@fw/core/extension';

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

  /** Reports the events of ws to `listener`: functions for five events would take 280 bytes per socket. */
  override emit(event: string | symbol, ...[data, isBinary]: unknown[]): boolean {
    const { listener } = this;
    if (event === 'message') listener?.received(data as Buffer, isBinary as boolean);
    else if (event === 'ping') listener?.pinged(data as Buffer);
    else if (event === 'pong') listener?.ponged();
    else if (event === 'close') listener?.disconnected(this.sentCode ?? (data as number));
    return true; // ws closes the connection with the code of an error
  }

  override close(code?: number, reason?: string | Buffer): void {
    const isOpen = this.readyState === WebSocket.OPEN;
    super.close(code, reason);
    if (isOpen) this.sentCode = code;
  }
}

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
