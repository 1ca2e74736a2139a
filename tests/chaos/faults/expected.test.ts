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

/** Faults that only some parts can have: add a new one here, and to `expected.ts` for these parts. */
const FAULTS_OF_SOME_PARTS: readonly FaultName[] = ['disk full'];

test.each(['PostgreSQL', 'Valkey', 'users', 'catalog'] as const)(
  'every fault of %s has one expectation',
  (part) => {
    const faults = rowsOf(part).map(({ fault }) => fault);

    expect(faults.filter((fault) => !FAULTS_OF_SOME_PARTS.includes(fault)).sort()).toEqual(
      FAULTS_OF_EVERY_PART.toSorted(),
    );
  },
);
