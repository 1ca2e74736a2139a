/** A server under load. */
export interface LoadedServer {
  /** CPU time that it has used so far. */
  cpuMicros(): Promise<number>;
  /** Sends load for a number of seconds; resolves with the number of responses. */
  load(seconds: number): Promise<number>;
}

/**
 * V8 compiles by the number of calls, not by time: on a slow machine, a process that has used 3 s of CPU time
 * still runs slow code. Some of it is compiled twice, because the first clients that leave use new paths.
 */
const WARM_UP_REQUESTS = 100_000;
/** Enough for requests that are slow themselves. */
const WARM_UP_MICROS = 6e6;

/** Sends load to all servers at once until each is warm: one that waits would lose its heap. */
export async function warmUp(servers: readonly LoadedServer[]): Promise<void> {
  const states = servers.map((server) => ({ server, requests: 0, micros: 0 }));
  const isWarm = ({ requests, micros }: (typeof states)[number]) =>
    requests >= WARM_UP_REQUESTS || micros >= WARM_UP_MICROS;
  while (!states.every(isWarm)) {
    await Promise.all(
      states.map(async (state) => {
        const before = await state.server.cpuMicros();
        state.requests += await state.server.load(1);
        state.micros += (await state.server.cpuMicros()) - before;
      }),
    );
  }
}

/** CPU time per request in µs. */
export interface Comparison {
  readonly measured: number;
  readonly reference: number;
}

/**
 * Compares two servers under load at once in turns of a second: the turn with the median ratio, so that a
 * collection of garbage or a compilation in one turn does not count.
 */
export async function compare(
  measured: LoadedServer,
  reference: LoadedServer,
  seconds: number,
): Promise<Comparison> {
  const perRequest = async ({ cpuMicros, load }: LoadedServer) => {
    const before = await cpuMicros();
    const requests = await load(1);
    return ((await cpuMicros()) - before) / requests;
  };
  const turns: Comparison[] = [];
  for (let turn = 0; turn < seconds; turn++) {
    const [one, other] = await Promise.all([perRequest(measured), perRequest(reference)]);
    turns.push({ measured: one, reference: other });
  }
  turns.sort((a, b) => a.reference / a.measured - b.reference / b.measured);
  const median = turns[Math.floor(turns.length / 2)];
  if (!median) throw new RangeError('Cannot compare servers in 0 s');
  return median;
}
