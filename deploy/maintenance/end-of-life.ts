import fs from 'node:fs';
import path from 'node:path';

import type { PinnedVersion } from './pinned-versions.ts';

/** A release cycle of a program, such as 22 of Node, and when its support ends. Dates are `YYYY-MM-DD`. */
export interface ReleaseCycle {
  readonly product: string;
  /** The beginning of the version. */
  readonly cycle: string;
  /** Missing if the project announced no date; an estimate if it announced only a month. */
  readonly endOfLife?: string;
  /** Used instead of `endOfLife`: when to decide again, for the `reason`. */
  readonly review?: string;
  readonly reason?: string;
  /** The page with the date. */
  readonly source: string;
}

/** How many days before the end the warning starts. */
export const WARNING_DAYS = 60;

const DAY_MS = 24 * 60 * 60 * 1000;

/** The listed release cycles. */
export function readReleaseCycles(): ReleaseCycle[] {
  const file = path.join(import.meta.dirname, 'end-of-life.json');
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

/** What to do about the cycles at `now`: `errors` for those that have ended, `warnings` 60 days before. */
export function checkEndOfLife(cycles: readonly ReleaseCycle[], now: Date) {
  const warnings: string[] = [];
  const errors: string[] = [];
  for (const { product, cycle, endOfLife, review, source } of cycles) {
    const date = review ?? endOfLife ?? '';
    const days = Math.ceil((Date.parse(date) - now.getTime()) / DAY_MS);
    const event = review ? 'must be reviewed' : 'reaches its end of life';
    const line = `${product} ${cycle} ${event} on ${date} (${source})`;
    if (Number.isNaN(days))
      errors.push(`${product} ${cycle} has no date: expected endOfLife or review`);
    else if (days < 0) errors.push(line);
    else if (days <= WARNING_DAYS) warnings.push(`${line}, in ${days} days`);
  }
  return { warnings, errors };
}

/** The versions that belong to no listed cycle. */
export function findUnlisted(
  versions: readonly PinnedVersion[],
  cycles: readonly ReleaseCycle[],
): PinnedVersion[] {
  return versions.filter(
    ({ product, version }) =>
      !cycles.some((one) => one.product === product && `${version}.`.startsWith(`${one.cycle}.`)),
  );
}
