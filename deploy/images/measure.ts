import { setTimeout as sleep } from 'node:timers/promises';

import { Container } from './container.ts';
import { docker } from './docker.ts';

/** What every service can start with. */
export const ENVIRONMENT = { JWT_SECRET: '0123456789abcdef0123456789abcdef' };

export interface Figures {
  /** From the container's start until the service listens: the best of several starts. */
  readonly startMs: number;
  /** What the engine counts against the limit while nobody asks for anything. */
  readonly idleMiB: number;
}

export interface MeasureOptions {
  /** Default 5. */
  readonly starts?: number;
  /** How long a service is left alone before its memory is read. Default 3 s. */
  readonly idleMs?: number;
}

/** Starts an image several times over, each time with an empty store, and looks on. */
export async function measure(
  image: string,
  { starts = 5, idleMs = 3_000 }: MeasureOptions = {},
): Promise<Figures> {
  const startMs: number[] = [];
  let idleMiB = 0;
  for (let start = 1; start <= starts; start++) {
    await using container = await Container.start({ image, env: ENVIRONMENT });
    await container.ready();
    startMs.push(await startTime(container));
    if (start < starts) continue;
    await sleep(idleMs);
    idleMiB = await memoryOf(container);
  }
  return { startMs: Math.min(...startMs), idleMiB };
}

/** By the clock that the engine and the service's log share: asking takes longer than starting. */
async function startTime(container: Container): Promise<number> {
  const { stdout } = await container.output();
  const line = stdout.split('\n').find((text) => text.includes('"message":"Listening on'));
  if (!line) throw new Error(`The service does not say that it listens: ${stdout}`);
  return Date.parse(JSON.parse(line).time) - Date.parse(await container.state('StartedAt'));
}

async function memoryOf({ id }: Container): Promise<number> {
  const text = await docker('stats', '--no-stream', '--format', '{{.MemUsage}}', id);
  return Number.parseFloat(text);
}
