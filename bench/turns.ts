import { fileURLToPath } from 'node:url';

import { rotate } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { runWrk } from './http/wrk.ts';
import { startMeasured } from './process.ts';
import type { Ready } from './turns/server.ts';

const SERVER = fileURLToPath(new URL('turns/server.ts', import.meta.url));

const WARM_UP_ROUNDS = 5;

/** CPU time per request in µs, of each variant. */
export type Round<Name extends string> = Readonly<Record<Name, number>>;

export interface TurnsOptions {
  readonly rounds: number;
  readonly connections: number;
}

/**
 * Measures the variants of one process, which `turns/<name>.ts` exports, in turns of a second. Two
 * processes of the same program differ by more than these variants do.
 */
export async function measureTurns<Name extends string>(
  name: string,
  { rounds, connections }: TurnsOptions,
): Promise<readonly Round<Name>[]> {
  ensureTool('wrk');
  const { ready, request, stop } = await startMeasured<Ready<Name>, number>(SERVER, name);
  const variants = Object.keys(ready.requests) as Name[];
  const measure = async (variant: Name) => {
    const before = await request(variant);
    const requests = [ready.requests[variant]];
    const count = await runWrk({ port: ready.port, requests, connections, seconds: 1 });
    return ((await request(variant)) - before) / count;
  };
  const measured: Round<Name>[] = [];
  try {
    for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
      process.stderr.write(
        `${name}, ${round < 0 ? 'warm-up' : `round ${round + 1} of ${rounds}`}\n`,
      );
      const times: Partial<Record<Name, number>> = {};
      for (const variant of rotate(variants, round + WARM_UP_ROUNDS)) {
        times[variant] = await measure(variant);
      }
      if (round >= 0) measured.push(times as Round<Name>);
    }
  } finally {
    await stop();
  }
  return measured;
}
