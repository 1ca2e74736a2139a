import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import type { Comparison, User } from './ledger.ts';
import type { StreamResult } from './stream.ts';

/** The sums of several streams, and the number of changes during them. */
export interface Totals {
  readonly streams: number;
  readonly requests: number;
  /** The users of every response with 201. */
  readonly ledger: readonly User[];
  readonly dropped: number;
  add(result: StreamResult): void;
  /** Counts a change of this kind. */
  count(kind: string): void;
  /** A table of all numbers. */
  render(comparison: Comparison): string;
}

/** Creates empty totals. */
export function createTotals(): Totals {
  const sums = { streams: 0, requests: 0, creations: 0, created: 0, lost: 0, dropped: 0 };
  const ledger: User[] = [];
  const kinds = new Map<string, number>();
  return {
    ledger,
    get streams() {
      return sums.streams;
    },
    get requests() {
      return sums.requests;
    },
    get dropped() {
      return sums.dropped;
    },
    add({ ledger: users, ...counts }) {
      sums.streams += 1;
      for (const name of ['requests', 'creations', 'created', 'lost', 'dropped'] as const) {
        sums[name] += counts[name];
      }
      for (const user of users) ledger.push(user);
    },
    count(kind) {
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    },
    render(comparison) {
      const rows: [string, number][] = [
        ...kinds,
        ['requests', sums.requests],
        ['of these POST', sums.creations],
        ['lost requests', sums.lost],
        ['requests that k6 could not start in time', sums.dropped],
        ['acknowledged users (201)', comparison.acknowledged],
        ['of these equal to their row', comparison.matching],
        ['without a row', comparison.missing],
        ['with a different row', comparison.different],
        ['rows written twice', comparison.duplicates],
        ['rows of requests in flight at the end', comparison.unacknowledged],
      ];
      const cells = rows.map(([name, count]) => [name, count.toLocaleString('en')]);
      return markdownTable(['Changes and requests', 'Number'], cells);
    },
  };
}
