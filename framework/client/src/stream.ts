import { type ResponseBody, startLimit } from './attempt.ts';
import { backoffMs, callersOf, isTransient, runCall } from './call.ts';
import type { CallOptions, ClientSettings } from './client-options.ts';
import { createEventParser, type StreamState } from './event-parser.ts';
import { newProblemError, type Sender } from './problem-error.ts';
import { type PreparedRequest, prepareRequest, type UntypedCallOptions } from './request.ts';

/** The options of a stream. `deadlineMs` is the longest time without a connection. Default one minute. */
export interface StreamOptions extends Omit<CallOptions, 'ifMatch'> {
  /** Starts after the event with this id. Default: the server decides. */
  readonly lastEventId?: string | undefined;
}

/** An event of a stream. */
export interface StreamEvent<Name = string, Data = unknown> {
  /** Its name; `message` if the server sends none. */
  readonly event: Name;
  readonly data: Data;
  /** The id of the last event that has one: `lastEventId` of a later stream. */
  readonly id: string;
}

const EVENT_STREAM = 'text/event-stream';

/** A connection on which nothing arrives for this time is replaced; servers send comments more often. */
const IDLE_MS = 60_000;

/** Long enough for a service whose only replica is replaced. */
const DEADLINE_MS = 60_000;

/** The longest wait before a reconnection that a server can ask for. */
const MAX_RETRY_MS = 60_000;

/**
 * The events of a stream. After a cut, it continues on a new connection after the last event. It ends
 * after the last event, after the status 204, and if a server that has closed the stream properly is not
 * available again before the deadline.
 *
 * @throws {ProblemError} if no connection can be opened, or a response is no stream of JSON
 */
export async function* streamEvents(
  path: string,
  options: UntypedCallOptions & StreamOptions,
  settings: ClientSettings,
): AsyncGenerator<StreamEvent, void> {
  const { clock, retryDelayMs } = settings;
  const { deadlineMs = DEADLINE_MS, lastEventId = '' } = options;
  const { signal, stop } = startLimit(callersOf(options));
  const state = { id: lastEventId, retryMs: 0, empty: 0, isOver: false };
  let attempts = settings.attempts;
  let wasClosed = false;
  try {
    for (;;) {
      const request = newRequest(path, state.id, { options, settings });
      const sender = { request, settings };
      const body = await connect(sender, { ...options, deadlineMs }, attempts).catch(
        (error: unknown) => {
          if (wasClosed && isTransient(Object(error))) return undefined;
          throw error;
        },
      );
      if (!body) return;
      wasClosed = yield* receive(body, { state, signal, sender });
      if (wasClosed && state.isOver) return;
      attempts = Number.POSITIVE_INFINITY; // until the deadline
      state.empty++;
      const waitMs = Math.min(state.retryMs, MAX_RETRY_MS) + backoffMs(retryDelayMs, state.empty);
      await clock.sleep(waitMs, signal);
    }
  } finally {
    stop();
  }
}

function newRequest(
  path: string,
  id: string,
  { options, settings }: { options: UntypedCallOptions; settings: ClientSettings },
): PreparedRequest {
  const headers = {
    ...options.headers,
    accept: EVENT_STREAM,
    ...(id !== '' && { 'last-event-id': toBytes(id) }),
  };
  return prepareRequest({ method: 'GET', path }, { ...options, headers }, settings);
}

/** The UTF-8 bytes of `text`, one character each: `fetch` accepts no others in a header. */
function toBytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** The body of a new connection; undefined if the server has no further events. */
async function connect(
  sender: Sender,
  options: UntypedCallOptions,
  attempts: number,
): Promise<ResponseBody | undefined> {
  const { status, headers, data } = await runCall({ ...sender, options, attempts });
  const body = data as ResponseBody | undefined;
  if (status === 204) return undefined;
  const type = headers.get('Content-Type') ?? '';
  if (body && /^text\/event-stream\b/i.test(type)) return body;
  void body?.cancel().catch(() => {}); // the connection may already be cut
  const text = `its response is "${type}", expected ${EVENT_STREAM}`;
  throw newProblemError(sender, { reason: 'unreadable', text });
}

interface ReceiveOptions {
  readonly state: StreamState;
  readonly signal: AbortSignal;
  readonly sender: Sender;
}

/** Yields the events of one connection; returns whether the server has closed it properly. */
async function* receive(
  body: ResponseBody,
  { state, signal, sender }: ReceiveOptions,
): AsyncGenerator<StreamEvent, boolean> {
  const parse = createEventParser(state, sender.settings.limitBytes);
  const reader = body.getReader();
  const disconnect = () => reader.cancel().catch(() => {}); // of a connection that is already cut
  try {
    for (;;) {
      signal.throwIfAborted();
      const limit = startLimit([signal], IDLE_MS);
      limit.signal.addEventListener('abort', disconnect);
      const part = await reader.read().catch(() => undefined);
      limit.stop();
      signal.throwIfAborted();
      if (!part || limit.signal.aborted) return false;
      if (part.done) return true;
      for (const sent of readable(sender, () => parse(part.value))) {
        yield { ...sent, data: readable(sender, () => JSON.parse(sent.data)) };
        signal.throwIfAborted();
      }
    }
  } finally {
    void disconnect();
  }
}

/** @throws {ProblemError} if `read` throws, because the stream contains something else than events in JSON */
function readable<T>(sender: Sender, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const { message: text } = cause as Error;
    throw newProblemError(sender, { reason: 'unreadable', text, cause });
  }
}
