import { median } from '../../deploy/local/testing/statistics.ts';
import { CONTESTANTS } from './contestant.ts';
import { BARE, type Workload } from './workloads.ts';

/** The CPU time per request of one contestant in one round. */
export interface CpuSample {
  readonly workload: Workload;
  readonly contestant: string;
  readonly round: number;
  readonly cpuMicrosPerRequest: number;
}

/** The CPU time that an add-on costs a contestant, compared with the bare workload. */
export interface AddOnCost {
  readonly workload: Workload;
  readonly contestant: string;
  /** The contestant whose bare workload is subtracted: itself, or the framework that it is built on. */
  readonly over: string;
  readonly bareMicros: number;
  readonly micros: number;
  /** The median of the differences within the rounds. */
  readonly costMicros: number;
}

/** The cost of each add-on for each contestant that has it and its bare workload, lowest first. */
export function addOnCostsOf(samples: readonly CpuSample[]): readonly AddOnCost[] {
  const withAddOn = samples.filter(({ workload }) => BARE[workload] !== undefined);
  const groups = Object.groupBy(
    withAddOn,
    ({ workload, contestant }) => `${workload} ${contestant}`,
  );
  return Object.values(groups)
    .flatMap((group = []) => addOnCostOf(group, samples) ?? [])
    .toSorted((a, b) => a.costMicros - b.costMicros);
}

function addOnCostOf(
  group: readonly CpuSample[],
  samples: readonly CpuSample[],
): AddOnCost | undefined {
  const [first] = group;
  if (!first) return undefined;
  const { workload, contestant } = first;
  const over = CONTESTANTS[contestant]?.over ?? contestant;
  const bareOf = new Map(
    samples
      .filter((sample) => sample.workload === BARE[workload] && sample.contestant === over)
      .map((sample) => [sample.round, sample.cpuMicrosPerRequest]),
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
    costMicros: median(pairs.map(({ bare, micros }) => micros - bare)),
  };
}
