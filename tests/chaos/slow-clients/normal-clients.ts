import { setTimeout as sleep } from 'node:timers/promises';

/** The responses that clients with normal requests got, by status; 0: none within 10 s. */
export type Statuses = Readonly<Record<number, number>>;

/** Sends 50 requests per second in turn to `urls` until `work` has ended. */
export async function whileServing<T>(
  urls: readonly string[],
  work: Promise<T>,
): Promise<{ readonly result: T; readonly statuses: Statuses }> {
  let isOver = false;
  const statuses: Record<number, number> = {};
  const pending: Promise<void>[] = [];
  const send = async (url = '') => {
    const status = await statusOf(url);
    statuses[status] = (statuses[status] ?? 0) + 1;
  };
  const serve = async () => {
    while (!isOver) {
      pending.push(send(urls[pending.length % urls.length]));
      await sleep(20);
    }
    await Promise.all(pending);
  };
  const serving = serve();
  const result = await work.finally(() => {
    isOver = true;
  });
  await serving;
  return { result, statuses };
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
