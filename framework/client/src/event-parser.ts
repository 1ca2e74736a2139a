/** One event as a server sends it. */
export interface SentEvent {
  /** Default `message`. */
  readonly event: string;
  readonly data: string;
  /** The id of the last event that has one. */
  readonly id: string;
}

/** What the next connection of a stream needs to know about the ones before. */
export interface StreamState {
  /** The id of the last complete event that has one. */
  id: string;
  /** The time before a reconnection that the server asks for, in milliseconds. */
  retryMs: number;
  /** The number of connections without an event since the last event. */
  empty: number;
  /** Whether the stream is complete: its last line is the comment that follows the last event. */
  isOver: boolean;
}

/**
 * Creates a parser of one response with the type `text/event-stream` (WHATWG HTML §9.2.6), which returns
 * the events that end in the given bytes. It throws a `RangeError` if a line or the data of an event has
 * more than `limit` characters.
 */
export function createEventParser(
  state: StreamState,
  limit: number,
): (bytes: Uint8Array) => SentEvent[] {
  const decoder = new TextDecoder(); // removes a byte order mark
  let { id } = state;
  let event = '';
  let data = '';
  let unfinished = '';
  let isAfterCr = false;
  state.isOver = false;

  function checkLength(text: string, before = ''): string {
    if (before.length + text.length <= limit) return text;
    throw new RangeError(`its event is longer than ${limit} bytes`);
  }

  function readLine(line: string): void {
    const [, name, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    state.isOver = line === ':end';
    if (name === 'event') event = value;
    else if (name === 'data') data += checkLength(`${value}\n`, data);
    else if (name === 'id' && !value.includes('\0')) id = value;
    else if (name === 'retry' && /^\d+$/.test(value)) state.retryMs = Number(value);
  }

  return (bytes) => {
    const events: SentEvent[] = [];
    const text = decoder.decode(bytes, { stream: true });
    if (text === '') return events;
    const lines = text.slice(isAfterCr && text[0] === '\n' ? 1 : 0).split(/\r\n|\r|\n/);
    isAfterCr = text.endsWith('\r');
    lines[0] = unfinished + lines[0];
    unfinished = checkLength(lines.pop() ?? '');
    for (const line of lines) {
      if (line !== '') readLine(line);
      else {
        state.id = id;
        // An event without data only changes the id.
        if (data !== '') events.push({ event: event || 'message', data: data.slice(0, -1), id });
        event = data = '';
      }
    }
    if (events.length > 0) state.empty = 0;
    return events;
  };
}
