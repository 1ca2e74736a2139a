import { expect, test } from 'vitest';

import type { FaultName } from './faults.ts';
import { rowsOf } from './rows.ts';

const FAULTS_OF_EVERY_PART: readonly FaultName[] = [
  'killed',
  'hung',
  'slow (100 ms)',
  'slow (3 s)',
  'refusing connections',
  'sending garbage',
  'DNS failure',
];

test.each(['PostgreSQL', 'Valkey', 'users', 'catalog'] as const)(
  'every fault of %s has one expectation',
  (part) => {
    const faults = rowsOf(part).map(({ fault }) => fault);

    expect(faults.filter((fault) => fault !== 'disk full').sort()).toEqual(
      FAULTS_OF_EVERY_PART.toSorted(),
    );
  },
);
