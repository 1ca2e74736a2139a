import type { Agent, OutgoingHttpHeaders } from 'node:http';

/** Node's HTTP modules: an `import` of one would cost 70 ms and 17 MB. */
const http = process.getBuiltinModule('node:http');

export interface CallOptions {
  readonly agent: Agent;
  readonly headers: OutgoingHttpHeaders;
  /** Calls it off. */
  readonly signal: AbortSignal;
  /** How long it may take to the end of the answer, in milliseconds. */
  readonly timeoutMs: number;
  /** The longest answer that is read, in bytes. */
  readonly limitBytes: number;
}

/** An answer from end to end. */
export interface CallAnswer {
  readonly status: number;
  readonly text: string;
}

/** The answer took longer than it may. */
export class CallTimeoutError extends Error {
  override readonly name = 'CallTimeoutError';
}

/** The answer is longer than it may be. */
export class AnswerTooLongError extends Error {
  override readonly name = 'AnswerTooLongError';
}

/** The kind of agent that keeps connections for calls to `url`. */
export function createAgent(url: URL): Agent {
  const { Agent } = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  return new Agent({ keepAlive: true, maxSockets: 64 });
}

/** Sends one GET and reads the whole answer, whatever its status. */
export function callOnce(url: URL, options: CallOptions): Promise<CallAnswer> {
  const { agent, headers, signal, timeoutMs, limitBytes } = options;
  return new Promise<CallAnswer>((resolve, reject) => {
    signal.throwIfAborted();
    const { request } = url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
    const sent = request(url, { agent, headers });
    const giveUp = (reason: unknown) => {
      reject(reason);
      sent.destroy();
    };
    const callOff = () => giveUp(signal.reason);
    const timer = setTimeout(() => giveUp(new CallTimeoutError()), timeoutMs);
    signal.addEventListener('abort', callOff);
    sent.on('close', () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', callOff);
    });
    sent.on('error', reject);
    sent.on('response', (answer) => {
      const chunks: Buffer[] = [];
      let length = 0;
      answer.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > limitBytes) giveUp(new AnswerTooLongError());
        chunks.push(chunk);
      });
      answer.on('error', reject);
      answer.on('end', () => {
        resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.end();
  });
}
