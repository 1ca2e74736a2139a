import { setTimeout as sleep } from 'node:timers/promises';

/** What clients with normal requests have seen. */
export interface NormalClients {
  /** Statuses of responses; 0: none within 10 s. */
  readonly statuses: Readonly<Record<number, number>>;
  readonly p99Ms: number;
}

/** Sends 50 requests per second in turn to `urls` until `work` has ended. */
export async function whileServing<T>(
  urls: readonly string[],
  work: Promise<T>,
): Promise<{ readonly result: T; readonly clients: NormalClients }> {
  let isOver = false;
  const statuses: Record<number, number> = {};
  const durations: number[] = [];
  const send = async (url: string) => {
    const startedMs = performance.now();
    const status = await statusOf(url);
    statuses[status] = (statuses[status] ?? 0) + 1;
    durations.push(performance.now() - startedMs);
  };
  const serve = async () => {
    const pending = new Set<Promise<void>>();
    for (let count = 0; !isOver; count++) {
      const request = send(urls[count % urls.length] ?? '');
      pending.add(request);
      request.finally(() => pending.delete(request));
      await sleep(20);
    }
    await Promise.all(pending);
  };
  const serving = serve();
  const result = await work.finally(() => {
    isOver = true;
  });
  await serving;
  durations.sort((a, b) => a - b);
  const p99Ms = Math.round(durations[Math.floor(durations.length * 0.99)] ?? 0);
  return { result, clients: { statuses, p99Ms } };
}

async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(10_000) });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}
