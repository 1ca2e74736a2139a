import { markdownTable } from '../../../deploy/local/testing/markdown.ts';
import type { Slope } from './slope.ts';
import type { SoakOptions, SoakResult } from './soak.ts';

/** The memory of each process as a table. */
export function tableOf({ processes }: SoakResult): string {
  return markdownTable(
    ['process', 'in use', 'slope per hour', 'resident', 'slope per hour', 'processor'],
    processes.map(({ name, inUseMb, inUse, residentMb, resident, processorShare }) => [
      name,
      `${inUseMb.toFixed(1)} MB`,
      describeSlope(inUse),
      `${residentMb.toFixed(0)} MB`,
      describeSlope(resident),
      `${(100 * processorShare).toFixed(1)} %`,
    ]),
  );
}

function describeSlope({ perHour, error }: Slope): string {
  return `${perHour.toFixed(2)} ± ${error.toFixed(2)} MB`;
}

export interface ReportOptions extends SoakOptions {
  /** The steepest accepted slope, in MB per hour. */
  readonly limit: number;
}

/** The section of docs/operations/failures.md. */
export function reportOf(
  result: SoakResult,
  { limit, rate, seconds, warmUpSeconds, periodMs }: ReportOptions,
): string {
  const { requests, failed, dropped } = result.load;
  const perSecond = Math.round(requests / seconds);
  return `${seconds / 60} minutes of the profile \`soak\` on PostgreSQL and Redis, with ${rate} journeys per second, which are ${perSecond} requests
per second: ${requests} requests, of which ${failed} failed; ${dropped} journeys could not start in time. A sample every
${periodMs / 1_000} s; the first ${warmUpSeconds / 60} minutes do not count.

${tableOf(result)}

The memory in use is measured after a garbage collection, without compiled code. Its slope must not be above ${limit} MB per
hour by more than two standard errors, which take autocorrelation into account (Newey and West). The resident memory is
not limited: it also contains memory that was freed but not returned, and follows the highest load.`;
}
