import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';

/** Each request counts for another user: no user ever reaches the rate limit. */
const UUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;
const { write } = Socket.prototype;

Socket.prototype.write = function (this: Socket, chunk: unknown, ...rest: never[]) {
  const isCommand = this.remotePort === 6379 && typeof chunk === 'string';
  const changed = isCommand ? chunk.replace(UUID, () => randomUUID()) : chunk;
  return write.call(this, changed as string, ...rest);
};
