import { Socket } from 'node:net';

/** Every command to PostgreSQL takes 300 ms longer. */
const { write } = Socket.prototype;

Socket.prototype.write = function (this: Socket, chunk: string, ...rest: never[]) {
  if (this.remotePort !== 5432) return write.call(this, chunk, ...rest);
  setTimeout(() => write.call(this, chunk, ...rest), 300);
  return true;
};
