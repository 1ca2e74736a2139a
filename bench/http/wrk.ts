import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { ensureTool } from '../../tools/programs.ts';
import { LOAD_CORE, startProcess } from '../process.ts';
import { type Sequence, toMessages } from './messages.ts';

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url));

export interface Load extends Sequence {
  /** Of the server, without a path. */
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /** Of all responses, with their headers. */
  readonly bytes: number;
}

/**
 * Sends load to a server with wrk.
 *
 * @throws {Error} if a connection failed, or a response had a status of 400 or more
 */
export async function runWrk({
  url,
  connections,
  seconds,
  ...sequence
}: Load): Promise<LoadResult> {
  const options = ['-t1', `-c${connections}`, `-d${seconds}s`, '--timeout', '30s', '-s', SCRIPT];
  const child = startProcess([ensureTool('wrk'), ...options, url], {
    core: LOAD_CORE,
    stdin: 'pipe',
    stdio: ['pipe', 'inherit'],
  });
  child.stdin?.end(toMessages(sequence));
  const [[code], output] = await Promise.all([
    once(child, 'close'),
    child.stdout ? text(child.stdout) : '',
  ]);
  if (code !== 0) throw new Error(`wrk exited with code ${code}: ${output}`);
  return readResult(output);
}

/** After this CPU time V8 has compiled what a request needs. Elapsed time says less on a busy machine. */
const WARM_UP_MICROS = 3e6;

/** Calls `load` until a process has used enough CPU time to be measured. */
export async function warmUp(
  usedMicros: () => Promise<number>,
  load: () => Promise<unknown>,
): Promise<void> {
  while ((await usedMicros()) < WARM_UP_MICROS) await load();
}

/** Reads the line of JSON that `load.lua` prints after the output of wrk. */
function readResult(output: string): LoadResult {
  const line = output.split('\n').find((text) => text.startsWith('{"requests":'));
  if (!line) throw new Error(`Cannot read the output of wrk: ${output}`);
  const { requests, micros, bytes, failures } = JSON.parse(line) as {
    requests: number;
    micros: number;
    bytes: number;
    failures: Record<string, number>;
  };
  const failed = Object.entries(failures).filter(([, count]) => count > 0);
  if (failed.length > 0 || requests === 0) {
    const kinds = failed.map(([kind, count]) => `${kind} ${count}`).join(', ');
    throw new Error(`wrk counted failures in ${requests} requests: ${kinds || 'no responses'}`);
  }
  return { requests, bytes, requestsPerSecond: (requests * 1e6) / micros };
}
