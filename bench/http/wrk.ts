import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { ensureTool } from '../../tools/programs.ts';
import { LOAD_CORE, startProcess } from '../process.ts';
import type { Exchange } from './workloads.ts';

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url));

export interface Load {
  readonly port: number;
  /** All have the same method, headers and body; their paths are requested in turn. */
  readonly exchanges: readonly Exchange[];
  readonly connections: number;
  readonly seconds: number;
  /** Sent with every request. */
  readonly headers?: Readonly<Record<string, string>>;
}

export interface LoadResult {
  readonly requests: number;
  readonly requestsPerSecond: number;
}

/**
 * Sends load to a server with wrk.
 *
 * @throws {Error} if a connection failed, or a response had a status of 400 or more
 */
export function runWrk({
  port,
  exchanges,
  connections,
  seconds,
  headers = {},
}: Load): Promise<LoadResult> {
  const [first] = exchanges;
  return runScript(SCRIPT, {
    options: Object.entries({ ...first?.headers, ...headers }).flatMap(([name, value]) => [
      '-H',
      `${name}: ${value}`,
    ]),
    url: `http://127.0.0.1:${port}`,
    connections,
    seconds,
    args: [first?.method ?? '', first?.body ?? '', ...exchanges.map(({ path }) => path)],
  });
}

interface ScriptLoad {
  readonly url: string;
  readonly connections: number;
  readonly seconds: number;
  /** Of wrk. */
  readonly options: readonly string[];
  /** Of the script. */
  readonly args: readonly string[];
}

/**
 * Sends the load of a script that prints its result as `load.lua` does.
 *
 * @throws {Error} if a connection failed, or a response had a status of 400 or more
 */
export async function runScript(
  script: string,
  { url, connections, seconds, options, args }: ScriptLoad,
): Promise<LoadResult & Readonly<Record<string, number>>> {
  const child = startProcess(
    [
      ...[
        ensureTool('wrk'),
        '-t1',
        `-c${connections}`,
        `-d${seconds}s`,
        '--timeout',
        '30s',
        '-s',
        script,
      ],
      ...[...options, url, '--', ...args],
    ],
    { core: LOAD_CORE, stdio: ['pipe', 'inherit'] },
  );
  const [[code], output] = await Promise.all([
    once(child, 'close'),
    child.stdout ? text(child.stdout) : '',
  ]);
  if (code !== 0) throw new Error(`wrk exited with code ${code}: ${output}`);
  return readResult(output);
}

/** Reads the line of JSON that `load.lua` prints after the output of wrk. */
function readResult(output: string): LoadResult & Readonly<Record<string, number>> {
  const line = output.split('\n').find((text) => text.startsWith('{"requests":'));
  if (!line) throw new Error(`Cannot read the output of wrk: ${output}`);
  const { failures, ...counts } = JSON.parse(line) as {
    requests: number;
    micros: number;
    failures: Record<string, number>;
  };
  const { requests, micros } = counts;
  const failed = Object.entries(failures).filter(([, count]) => count > 0);
  if (failed.length > 0 || requests === 0) {
    const kinds = failed.map(([kind, count]) => `${kind} ${count}`).join(', ');
    throw new Error(`wrk counted failures in ${requests} requests: ${kinds || 'no responses'}`);
  }
  return { ...counts, requestsPerSecond: (requests * 1e6) / micros };
}
