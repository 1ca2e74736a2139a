import { median } from '../statistics.ts';
import { CONTESTANTS } from './contestant.ts';
import { BARE, type Workload } from './workloads.ts';

/** Processor time per request in one slice of one round. */
export interface Cost {
  readonly workload: Workload;
  readonly contestant: string;
  readonly round: number;
  readonly cpuMicrosPerRequest: number;
}

/** What an add-on costs a contestant, beside the bare workload. */
export interface Price {
  readonly workload: Workload;
  readonly contestant: string;
  /** The contestant whose bare workload is taken: itself, or the framework that it is built on. */
  readonly over: string;
  readonly bareMicros: number;
  readonly micros: number;
  /** The median of the differences of the rounds. */
  readonly priceMicros: number;
}

/** The price of each add-on for each contestant that has it and its bare workload, lowest first. */
export function pricesOf(costs: readonly Cost[]): readonly Price[] {
  const withAddOn = costs.filter(({ workload }) => BARE[workload] !== undefined);
  const groups = Object.groupBy(
    withAddOn,
    ({ workload, contestant }) => `${workload} ${contestant}`,
  );
  return Object.values(groups)
    .flatMap((group = []) => priceOf(group, costs) ?? [])
    .toSorted((a, b) => a.priceMicros - b.priceMicros);
}

function priceOf(group: readonly Cost[], costs: readonly Cost[]): Price | undefined {
  const [first] = group;
  if (!first) return undefined;
  const { workload, contestant } = first;
  const over = CONTESTANTS[contestant]?.over ?? contestant;
  const bareOf = new Map(
    costs
      .filter((cost) => cost.workload === BARE[workload] && cost.contestant === over)
      .map((cost) => [cost.round, cost.cpuMicrosPerRequest]),
  );
  const pairs = group.flatMap(({ round, cpuMicrosPerRequest: micros }) => {
    const bare = bareOf.get(round);
    return bare === undefined ? [] : [{ bare, micros }];
  });
  if (pairs.length === 0) return undefined;
  return {
    workload,
    contestant,
    over,
    bareMicros: median(pairs.map(({ bare }) => bare)),
    micros: median(pairs.map(({ micros }) => micros)),
    priceMicros: median(pairs.map(({ bare, micros }) => micros - bare)),
  };
}
