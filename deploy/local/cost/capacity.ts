import { SERVICE_NAMES, type ServiceName } from '../../../services/services.ts';
import { replicasOf } from '../processes/system.ts';
import { measureCapacity } from '../testing/closed-loop.ts';
import { markdownTable } from '../testing/markdown.ts';
import { inTurn, kindsOf } from './load.ts';
import { compare, readProcesses } from './usage.ts';

/** Seconds of each measurement, and of the load before it, during which Node compiles the code. */
const MEASURED_SECONDS = 15;
const WARM_UP_SECONDS = 4;

const HEAD = ['', 'Requests/s', '99th percentile', 'CPU', 'Requests/s per 100 m'];

/** The table of what one process of each service can serve, in the system at `port`. */
export async function capacityTable(port: number): Promise<string> {
  const rows = [];
  for (const name of SERVICE_NAMES) rows.push(await measureService(name, port));
  return markdownTable(HEAD, rows);
}

/** Sends as many requests as the first process of a service can serve, directly to it. */
async function measureService(service: ServiceName, edgePort: number): Promise<string[]> {
  const replica = replicasOf(edgePort).find((one) => one.service === service);
  if (!replica) throw new Error(`Cannot find a process of ${service}`);
  const { name, port } = replica;
  const load = { port, next: inTurn(kindsOf(service)) };
  const read = () => new Map([...readProcesses()].filter(([process]) => process === name));
  console.log(`${service}: sending requests to ${name}`);
  await measureCapacity({ ...load, seconds: WARM_UP_SECONDS });
  const before = read();
  const { perSecond, p99Ms, failed } = await measureCapacity({
    ...load,
    seconds: MEASURED_SECONDS,
  });
  const { millicores } = compare(before, read());
  if (failed > 0) throw new Error(`${service}: ${failed} requests failed`);
  return [
    ...[service, perSecond.toFixed(0), `${p99Ms.toFixed(0)} ms`],
    ...[`${millicores} m`, ((100 * perSecond) / millicores).toFixed(0)],
  ];
}
