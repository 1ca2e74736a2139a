import type { ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';

import { http } from './http.ts';

/** The private fields of a response that Node's `writeHead` reads and sets. */
export interface HeadFields {
  /** The head, as it is sent before the first chunk of the body. */
  _header: string | null;
  /** Whether the connection is closed after the response. */
  _last: boolean;
  readonly _keepAliveTimeout: number;
  readonly _expect_continue: boolean;
  readonly _sent100: boolean;
}

/** The private fields of `res`. */
export function headFields(res: ServerResponse): HeadFields {
  return res as unknown as HeadFields;
}

/** Which parts of this folder use private fields. Without one, Node's public functions do the same. */
interface PrivateParts {
  /** The head of a response is written as one string. */
  readonly head: boolean;
  /** The body of a request is taken from the parser, without the buffer of a stream. */
  readonly body: boolean;
  /** The TCP connection below TLS, and its counters, are read. */
  readonly socket: boolean;
}

const NONE: PrivateParts = { head: false, body: false, socket: false };

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n';
const REQUEST = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nq';

/** `FW_PUBLIC_NODE_API=1` selects Node's public functions. */
export const privateParts = process.env.FW_PUBLIC_NODE_API === '1' ? NONE : testParts();

/** Sends one request through Node's parser, and returns which private fields behave as expected. */
function testParts(): PrivateParts {
  let received = '';
  let sent = '';
  let hasFields = false;
  class Request extends http.IncomingMessage {
    override push(chunk: Uint8Array | null): boolean {
      received += chunk === null ? '' : String(chunk);
      return super.push(chunk);
    }
  }
  const respond = (res: ServerResponse) => {
    const fields = headFields(res);
    hasFields =
      typeof fields._last === 'boolean' &&
      typeof fields._keepAliveTimeout === 'number' &&
      fields._expect_continue === false &&
      fields._sent100 === false;
    fields._header = HEAD;
    res.end('r', 'latin1');
  };
  const socket = new Duplex({
    read() {},
    write(chunk, _encoding, done) {
      sent += String(chunk);
      done();
    },
  });
  try {
    const server = http.createServer({ IncomingMessage: Request }, (_req, res) => respond(res));
    server.emit('connection', socket);
    socket.emit('data', Buffer.from(REQUEST));
    return { head: hasFields && sent === `${HEAD}r`, body: received === 'q', socket: true };
  } catch {
    return NONE;
  } finally {
    socket.destroy();
  }
}
