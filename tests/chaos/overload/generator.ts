import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A kind of request, in the share `weight` of all requests. */
export interface RequestKind {
  readonly name: string;
  readonly weight: number;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface LoadOptions {
  readonly port: number;
  readonly kinds: readonly RequestKind[];
  /** Arrival rates, one after the other. */
  readonly phases: readonly { readonly perSecond: number; readonly seconds: number }[];
  /** The prefix of the request ids: `<prefix>-<index>`. */
  readonly idPrefix: string;
  /** The share of clients that leave within 100 ms; the others leave after a second. Default 0.1. */
  readonly impatientShare?: number;
}

/**
 * What clients saw. `rejected`: 503 with `Retry-After`, or 429, which is what Traefik sends. `timedOut`: no response
 * within a second. `left`: the client closed its connection before that.
 */
export const OUTCOMES = ['left', 'served', 'rejected', 'failed', 'timedOut'] as const;

/** One entry per request, in the order of their intended times. */
export interface LoadResult {
  /** The time of day of the start, in milliseconds. */
  readonly startedAtMs: number;
  /** When the request was due, in milliseconds since the start. */
  readonly dueMs: Float64Array;
  /** The time from then to the complete response, or until the client left. */
  readonly latencyMs: Float64Array;
  /** Indexes in `kinds`. */
  readonly kind: Uint8Array;
  /** Indexes in `OUTCOMES`. */
  readonly outcome: Uint8Array;
  /** The largest delay between the due time and the time of sending, in milliseconds. */
  readonly maxLateMs: number;
}

/** When clients leave that have no response. */
const PATIENT_MS = 1_000;
const IMPATIENT_MS = 100;

/**
 * Sends requests at random times (a Poisson process) at the given rates, whether or not earlier ones have
 * a response. Each uses an idle connection, or a new one.
 */
export async function sendLoad({
  port,
  kinds,
  phases,
  idPrefix,
  impatientShare = 0.1,
}: LoadOptions): Promise<LoadResult> {
  const due = dueTimes(phases);
  const latencyMs = new Float64Array(due.length);
  const outcome = new Uint8Array(due.length);
  const kind = Uint8Array.from(due, () => pickKind(kinds));
  const texts = kinds.map((one) => textsOf(one, port));
  const idle: Socket[] = [];
  const startMs = performance.now();
  let maxLateMs = 0;

  function send(index: number): void {
    const socket = unwatch(idle.pop() ?? open(port));
    const [head, rest] = texts[kind[index] as number] as [string, string];
    let text = '';
    const end = (result: (typeof OUTCOMES)[number], isReusable: boolean) => {
      clearTimeout(timer);
      outcome[index] = OUTCOMES.indexOf(result);
      latencyMs[index] = performance.now() - startMs - (due[index] as number);
      unwatch(socket).on('error', () => {});
      if (!isReusable) socket.destroy();
      else idle.push(socket.on('close', () => idle.splice(idle.indexOf(socket), 1)));
    };
    const isImpatient = Math.random() < impatientShare;
    const patienceMs = isImpatient ? Math.random() * IMPATIENT_MS : PATIENT_MS;
    const timer = setTimeout(end, patienceMs, isImpatient ? 'left' : 'timedOut', false);
    socket.on('error', () => end('failed', false)).on('close', () => end('failed', false));
    socket.on('data', (chunk: string) => {
      text += chunk;
      const response = readResponse(text);
      if (response) end(response.result, response.isReusable);
    });
    socket.write(`${head}X-Request-Id: ${idPrefix}-${index}\r\n${rest}`);
  }

  for (let index = 0; index < due.length; ) {
    const nowMs = performance.now() - startMs;
    while (index < due.length && (due[index] as number) <= nowMs) {
      maxLateMs = Math.max(maxLateMs, nowMs - (due[index] as number));
      send(index++);
    }
    await sleep(1);
  }
  await sleep(PATIENT_MS + 100);
  for (const socket of [...idle]) socket.destroy();
  const startedAtMs = performance.timeOrigin + startMs;
  return { startedAtMs, dueMs: due, latencyMs, kind, outcome, maxLateMs };
}

/** One character per byte, so that lengths can be compared with `Content-Length`. */
function open(port: number): Socket {
  return connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1');
}

function unwatch(socket: Socket): Socket {
  for (const event of ['data', 'error', 'close']) socket.removeAllListeners(event);
  return socket;
}

function dueTimes(phases: LoadOptions['phases']): Float64Array {
  const due: number[] = [];
  let startMs = 0;
  for (const { perSecond, seconds } of phases) {
    const pause = () => (-Math.log(1 - Math.random()) * 1_000) / perSecond;
    const endMs = startMs + seconds * 1_000;
    for (let ms = startMs + pause(); ms < endMs; ms += pause()) due.push(ms);
    startMs = endMs;
  }
  return Float64Array.from(due);
}

/** The index of a random kind. */
export function pickKind(kinds: readonly RequestKind[]): number {
  let rest = Math.random() * kinds.reduce((sum, { weight }) => sum + weight, 0);
  const found = kinds.findIndex(({ weight }) => {
    rest -= weight;
    return rest < 0;
  });
  return Math.max(0, found);
}

/** The request without its id, which belongs between the two parts. */
function textsOf({ method, path, headers = {}, body = '' }: RequestKind, port: number) {
  const fields = { Host: `127.0.0.1:${port}`, ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`);
  const length = body ? `Content-Length: ${Buffer.byteLength(body)}\r\n` : '';
  return [`${method} ${path} HTTP/1.1\r\n${lines.join('')}`, `${length}\r\n${body}`];
}

/** The result of a complete response; undefined while a part is missing. */
function readResponse(text: string) {
  const headEnd = text.indexOf('\r\n\r\n');
  if (headEnd < 0) return undefined;
  const head = text.slice(0, headEnd).toLowerCase();
  const length = /\r\ncontent-length: (\d+)/.exec(head)?.[1];
  if (length === undefined) throw new Error(`Cannot read a response without length: ${head}`);
  if (text.length < headEnd + 4 + Number(length)) return undefined;
  const status = Number(head.slice(9, 12));
  const isRejected = status === 429 || (status === 503 && head.includes('\r\nretry-after: '));
  const result = status < 300 ? 'served' : isRejected ? 'rejected' : 'failed';
  return { result, isReusable: !head.includes('\r\nconnection: close') } as const;
}

if (import.meta.main) {
  process.once('message', async (options: LoadOptions) => {
    const result = await sendLoad(options);
    process.send?.(result, () => process.exit());
  });
}
