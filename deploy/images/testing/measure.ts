import { docker } from '../docker.ts';
import { Container } from './container.ts';

/** An environment that every service accepts. */
export const ENVIRONMENT = { JWT_SECRET: '0123456789abcdef0123456789abcdef' };

/** What an image needs to start. */
export interface ImageMeasurement {
  /**
   * Processor time from the start of the process until it responds, in seconds: the shortest of three starts.
   * Other load on the machine changes it less than the duration.
   */
  readonly startCpuSeconds: number;
  /** Memory that counts against the container's limit without requests. */
  readonly idleMiB: number;
}

/** Starts an image three times, each time with an empty store, and measures it. */
export async function measure(image: string): Promise<ImageMeasurement> {
  const seconds: number[] = [];
  let idleMiB = 0;
  for (let start = 1; start <= 3; start++) {
    await using container = await Container.start({ image, env: ENVIRONMENT });
    await container.ready();
    seconds.push(await cpuSecondsOf(container));
    idleMiB = await memoryOf(container);
  }
  return { startCpuSeconds: Math.min(...seconds), idleMiB };
}

async function cpuSecondsOf(container: Container): Promise<number> {
  const metrics = await (await fetch(`${await container.address(9090)}/metrics`)).text();
  return Number(/^process_cpu_seconds_total ([\d.]+)/m.exec(metrics)?.[1]);
}

async function memoryOf({ id }: Container): Promise<number> {
  const text = await docker('stats', '--no-stream', '--format', '{{.MemUsage}}', id);
  return Number.parseFloat(text);
}
