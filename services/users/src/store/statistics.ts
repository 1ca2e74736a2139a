import type { StatisticsOptions, UserStatistics } from '../store.ts';

export const DAY_MS = 24 * 60 * 60 * 1_000;

/** The days to count, as numbers of days since 1970 (UTC): from `first` to before `end`. */
export function daysOf({ days, now }: StatisticsOptions): { first: number; end: number } {
  const end = Math.floor(now.getTime() / DAY_MS) + 1;
  return { first: end - days, end };
}

/** Returns the count of each day with its date, including days without new users. */
export function nameDays(
  options: StatisticsOptions,
  counts: Iterable<readonly [day: number, count: number]>,
): UserStatistics['byDay'] {
  const { first } = daysOf(options);
  const countOf = new Map(counts);
  return Array.from({ length: options.days }, (_, at) => ({
    date: new Date((first + at) * DAY_MS).toISOString().slice(0, 10),
    count: countOf.get(first + at) ?? 0,
  }));
}
