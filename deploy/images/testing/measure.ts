import { setTimeout as sleep } from 'node:timers/promises';

import { docker } from '../docker.ts';
import { Container } from './container.ts';

/** An environment that every service accepts. */
export const ENVIRONMENT = { JWT_SECRET: '0123456789abcdef0123456789abcdef' };

/** Start time and idle memory of an image. */
export interface ImageMeasurement {
  /** Time from the start of the container until the service listens: the shortest of several starts. */
  readonly startMs: number;
  /** Memory that counts against the container's limit without requests. */
  readonly idleMiB: number;
}

export interface MeasureOptions {
  /** Default 5. */
  readonly starts?: number;
  /** Time without requests before the memory is read. Default 3 s. */
  readonly idleMs?: number;
}

/** Starts an image several times, each time with an empty store, and measures it. */
export async function measure(
  image: string,
  { starts = 5, idleMs = 3_000 }: MeasureOptions = {},
): Promise<ImageMeasurement> {
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

/** Computed from the time stamps of the engine and of the log: a request would take longer than the start. */
async function startTime(container: Container): Promise<number> {
  const { stdout } = await container.output();
  const line = stdout.split('\n').find((text) => text.includes('"message":"Listening on'));
  if (!line) throw new Error(`The log contains no line about listening: ${stdout}`);
  return Date.parse(JSON.parse(line).time) - Date.parse(await container.state('StartedAt'));
}

async function memoryOf({ id }: Container): Promise<number> {
  const text = await docker('stats', '--no-stream', '--format', '{{.MemUsage}}', id);
  return Number.parseFloat(text);
}
