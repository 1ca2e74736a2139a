import { Socket } from 'node:net';

/** Every response has a header by which k6 counts those of a planted version. The services write the head as text. */
const { write } = Socket.prototype;

Socket.prototype.write = function (this: Socket, chunk: unknown, ...rest: never[]) {
  const isHead = typeof chunk === 'string' && chunk.startsWith('HTTP/1.1 ');
  const marked = isHead ? chunk.replace('\r\n', '\r\nx-planted: 1\r\n') : chunk;
  return write.call(this, marked as string, ...rest);
};
