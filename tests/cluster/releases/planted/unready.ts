import { Server, type ServerResponse } from 'node:http';

/** The pod never becomes ready. */
const { emit } = Server.prototype;

Server.prototype.emit = function (this: Server, event: string, ...args: never[]) {
  const [request, response] = args as unknown as [{ readonly url: string }, ServerResponse];
  if (event !== 'request' || request.url !== '/readyz') return emit.call(this, event, ...args);
  response.writeHead(503).end();
  return true;
};
