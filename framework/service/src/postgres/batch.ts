import { HttpError } from 'fw';

export interface BatchOptions {
  /** How many batches may be at work at a time; what is asked for meanwhile waits for the next. Default 3. */
  readonly atOnce?: number;
  /** Most items of one batch. Default 200. */
  readonly largest?: number;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Does what is asked for in one turn of the event loop in one go: `run` takes some items, and resolves
 * with a result for each, in their order. If that fails because of an item, each is run alone, so that
 * none suffers from another.
 */
export function createBatch<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
  { atOnce = 3, largest = 200 }: BatchOptions = {},
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let isScheduled = false;
  let running = 0;

  function start(): void {
    isScheduled = false;
    while (running < atOnce && waiting.length > 0) {
      const batch = waiting.slice(0, largest);
      waiting = waiting.slice(largest);
      running++;
      void runBatch(batch).finally(() => {
        running--;
        start();
      });
    }
  }

  async function runBatch(batch: readonly Waiting<Item, Result>[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [at, { resolve, reject }] of batch.entries()) {
        if (at in results) resolve(results[at] as Result);
        else reject(new RangeError('Cannot answer an item of a batch: it has no result'));
      }
    } catch (error) {
      if (batch.length > 1 && !isForAll(error))
        await Promise.all(batch.map((one) => runBatch([one])));
      else for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (isScheduled) return;
      isScheduled = true;
      setImmediate(start);
    });
}

/** Whether trying one by one would not help either. */
function isForAll(error: unknown): boolean {
  return error instanceof HttpError && error.status === 503;
}
