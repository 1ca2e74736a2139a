import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

import { ensureTool } from '../../deploy/local/tools.ts';
import { type LoadResult, readResult } from '../http/wrk.ts';
import { LOAD_CORE, outputOf, startProcess } from '../process.ts';
import { type Endpoint, NUMBER, type ServiceRequest } from './endpoint.ts';

const SCRIPT = fileURLToPath(new URL('load.lua', import.meta.url));

/** wrk's own limit is in whole seconds; it is told to end before. */
const LONGEST_SECONDS = 60;

/** Requests for one endpoint, ready to be sent any number of times. */
export interface Plan {
  readonly file: string;
  readonly hasNumbers: boolean;
}

/** Writes down what is to be sent, in the form that the load generator reads. */
export function writePlan(
  file: string,
  requests: readonly ServiceRequest[],
  { thenDeletes }: Pick<Endpoint, 'thenDeletes'>,
): Plan {
  const hasNumbers = JSON.stringify(requests).includes(NUMBER);
  const plan = {
    requests: requests.map((request) => ({ headers: {}, ...request })),
    thenDeletes,
    place: hasNumbers ? NUMBER : undefined,
  };
  writeFileSync(file, `return ${toLua(plan)}\n`);
  return { file, hasNumbers };
}

/** `value` as a Lua expression. */
export function toLua(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map(toLua).join(',')}}`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([name, field]) => `[${toLua(name)}]=${toLua(field)}`).join(',')}}`;
  }
  // Octets as decimal escapes: what a string holds cannot end it.
  const octets = [...Buffer.from(String(value))];
  return `"${octets.map((octet) => `\\${String(octet).padStart(3, '0')}`).join('')}"`;
}

export interface Load {
  readonly port: number;
  readonly plan: Plan;
  readonly connections: number;
  readonly milliseconds: number;
}

/** No number of one run is used twice, whichever contestant it goes to. */
let nextNumber = 1_000_000;
const NUMBERS_PER_LOAD = 10_000_000;

/** Takes numbers that no request has had: as many as one load may need. */
export function takeNumbers(): number {
  nextNumber += NUMBERS_PER_LOAD;
  return nextNumber;
}

/** On a busy machine wrk may need longer than a slice to start, or a server to answer anything. */
const LONGEST_MS = 5_000;

const INSIST_MS = 200;

/**
 * Puts load on a server; for longer, if it has answered nothing by then.
 *
 * @throws {Error} if a connection failed, or an answer had a status of 400 or more
 */
export async function runLoad(load: Load): Promise<LoadResult> {
  const output = await runWrk(load);
  const isSilent = output.includes('"requests":0,') && load.milliseconds < LONGEST_MS;
  return isSilent ? runLoad({ ...load, milliseconds: LONGEST_MS }) : readResult(output);
}

async function runWrk({ port, plan, connections, milliseconds }: Load): Promise<string> {
  const child = startProcess(
    [
      ...[
        ensureTool('wrk'),
        '-t1',
        `-c${connections}`,
        `-d${LONGEST_SECONDS}s`,
        '--timeout',
        '10s',
        '-s',
        SCRIPT,
      ],
      ...[`http://127.0.0.1:${port}`, '--', plan.file, String(takeNumbers())],
    ],
    { core: LOAD_CORE },
  );
  // At SIGINT, wrk ends as if its time had passed; where it has not begun to wait yet, at the next one.
  let timer = setTimeout(function end() {
    child.kill('SIGINT');
    timer = setTimeout(end, INSIST_MS);
  }, milliseconds);
  const { code, stdout, stderr } = await outputOf(child);
  clearTimeout(timer);
  if (code === null) return '"requests":0,'; // it was told to end before it could listen
  if (code !== 0) throw new Error(`wrk ended with code ${code}: ${stderr || stdout}`);
  return stdout;
}
