import { AsyncResource } from 'node:async_hooks';
import { Readable } from 'node:stream';

import { formatEvent, type ServerSentEvent } from './format-event.ts';

export interface EventStreamOptions {
  readonly heartbeatMs: number;
  /** Ends the stream when it aborts. */
  readonly closing: AbortSignal;
  /** Called once, when the stream has ended or the client has disconnected. */
  readonly onEnd: () => void;
}

/** A comment, which clients ignore. */
const COMMENT = ':\n\n';

/** How many bytes of events wait for a client that reads slowly; one event may exceed it. */
const BUFFER_BYTES = 16 * 1024;

/**
 * The text of `events` as a stream, which requests the next event when the client has read the previous
 * ones. It starts with a comment, so that the client gets the head of the response before an event.
 */
export function createEventStream(
  events: AsyncIterable<ServerSentEvent>,
  { heartbeatMs, closing, onEnd }: EventStreamOptions,
): Readable {
  const iterator = events[Symbol.asyncIterator]();
  // Stream events run in the asynchronous context of the connection, not of the request.
  const requestNext = AsyncResource.bind(() => iterator.next());
  const release = async () => iterator.return?.();
  let isWaiting = false;
  let isOver = false;
  const stop = () => {
    if (isOver) return;
    isOver = true;
    clearInterval(heartbeat);
    closing.removeEventListener('abort', finish);
    onEnd();
    release().catch(() => {}); // what the source throws after its end has no effect
  };
  const finish = () => {
    stop();
    stream.push(null);
  };
  const sendNext = async () => {
    const { done, value } = await requestNext();
    isWaiting = false;
    if (isOver) return;
    if (done) finish();
    else stream.push(formatEvent(value));
  };
  const stream = new Readable({
    highWaterMark: BUFFER_BYTES,
    read() {
      if (isWaiting || isOver) return;
      isWaiting = true;
      sendNext().catch((error: Error) => {
        if (!isOver) stream.destroy(error);
      });
    },
    destroy(error, done) {
      stop();
      done(error);
    },
  });
  const heartbeat = heartbeatMs > 0 ? setInterval(beat, heartbeatMs, stream).unref() : undefined;
  stream.push(COMMENT);
  closing.addEventListener('abort', finish, { once: true });
  if (closing.aborted) finish();
  return stream;
}

/** Sends a comment, unless the client has not read what was sent before. */
function beat(stream: Readable): void {
  if (stream.readableLength === 0) stream.push(COMMENT);
}
