import { ServiceUnavailableError } from 'fw';

import { activeTraces, type RequestTrace, runWithTraces } from '../tracing/tracing.ts';

/** More calls wait for the next batch: the higher the load, the larger the batches. */
const CONCURRENT_BATCHES = 3;
const MAX_BATCH_ITEMS = 200;

interface Call<Item, Result> {
  readonly item: Item;
  readonly traces: readonly RequestTrace[];
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Combines the calls of one turn of the event loop: `run` receives their items and resolves with one
 * result for each, in the same order. If it rejects, `run` is called for each item alone, so that no call
 * fails because of the item of another; not after a `ServiceUnavailableError`.
 */
export function createBatch<Item, Result>(
  run: (items: readonly Item[]) => Promise<readonly Result[]>,
): (item: Item) => Promise<Result> {
  const waiting: Call<Item, Result>[] = [];
  let running = 0;

  function start(): void {
    while (running < CONCURRENT_BATCHES && waiting.length > 0) {
      running++;
      void runBatch(waiting.splice(0, MAX_BATCH_ITEMS)).finally(() => {
        running--;
        start();
      });
    }
  }

  async function runBatch(batch: readonly Call<Item, Result>[]): Promise<void> {
    try {
      const results = await runWithTraces(batch, () => run(batch.map(({ item }) => item)));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      if (batch.length === 1 || error instanceof ServiceUnavailableError) {
        for (const { reject } of batch) reject(error);
      } else {
        await Promise.all(batch.map((call) => runBatch([call])));
      }
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      const call = { item, traces: activeTraces(), resolve, reject };
      if (waiting.push(call) === 1) setImmediate(start);
    });
}
