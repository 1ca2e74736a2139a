import { Socket } from 'node:net';

import { usesPrivateFields } from './http.ts';

/** The method of a stream that Node calls when the stream is destroyed. */
type Destroy = (this: Socket, error: Error | null, done: (error: Error | null) => void) => void;

/**
 * Returns a function for new connections: it calls `end` when the connection ends, and ignores an error that
 * no other listener gets, which would end the process. It adds no listeners: a second one of `close` and of
 * `error` takes 350 bytes per idle connection, in lists that grow with each response.
 */
export function createEndWatch(end: (socket: Socket) => void): (socket: Socket) => void {
  const destroy: Destroy = function (error, done) {
    end(this);
    this.on('error', ignore);
    const { _destroy } = Object.getPrototypeOf(this) as { readonly _destroy: Destroy };
    _destroy.call(this, error, done);
  };
  return (socket) => {
    // Other runtimes, and streams that a program passes to the server, may end in another way.
    if (usesPrivateFields && socket instanceof Socket && !Object.hasOwn(socket, '_destroy')) {
      (socket as { _destroy: Destroy })._destroy = destroy;
    } else {
      socket.on('error', ignore).on('close', () => end(socket));
    }
  };
}

function ignore(): void {}
