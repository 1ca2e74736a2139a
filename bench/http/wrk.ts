import { fileURLToPath } from 'node:url';

import { runProgram } from '../../deploy/local/cluster/program.ts';
import { ensureTool } from '../../tools/programs.ts';
import { LOAD_CORE, pinned } from '../process.ts';
import type { Exchange } from './workloads.ts';

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url));

/** A request; a body is sent as `application/json`, unless `headers` contains another type. */
export type LoadRequest = Pick<Exchange, 'path' | 'headers' | 'body'> & {
  readonly method?: string;
};

export interface Load {
  readonly port: number;
  /** Sent in turn. */
  readonly requests: readonly LoadRequest[];
  readonly connections: number;
  readonly seconds: number;
}

/**
 * Sends load to a server with wrk, and returns the number of responses.
 *
 * @throws {Error} if a connection failed, or a response had a status of 400 or more
 */
export async function runWrk({ port, requests, connections, seconds }: Load): Promise<number> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT];
  const url = `http://127.0.0.1:${port}`;
  const [file = '', ...args] = pinned([ensureTool('wrk'), ...options, url], LOAD_CORE);
  const output = await runProgram(file, args, { input: requests.map(encode).join('') });
  return readResult(output);
}

/** What `load.lua` reads: a line with the length of the message, and the message. */
function encode({ method = 'GET', path, headers, body = '' }: LoadRequest): string {
  const length = Buffer.byteLength(body);
  const lines = Object.entries({
    Host: '127.0.0.1',
    ...(length > 0 && { 'Content-Type': 'application/json' }),
    ...headers,
    ...(length > 0 && { 'Content-Length': length }),
  }).map(([name, value]) => `${name}: ${value}\r\n`);
  const message = `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`;
  return `${Buffer.byteLength(message)}\n${message}`;
}

/** Reads the line of JSON that `load.lua` prints after the output of wrk. */
function readResult(output: string): number {
  const line = output.split('\n').find((text) => text.startsWith('{"requests":'));
  if (!line) throw new Error(`Cannot read the output of wrk: ${output}`);
  const { requests, failures } = JSON.parse(line) as {
    requests: number;
    failures: Record<string, number>;
  };
  const failed = Object.entries(failures).filter(([, count]) => count > 0);
  if (failed.length > 0 || requests === 0) {
    const kinds = failed.map(([kind, count]) => `${kind} ${count}`).join(', ');
    throw new Error(`wrk counted failures in ${requests} requests: ${kinds || 'no responses'}`);
  }
  return requests;
}
