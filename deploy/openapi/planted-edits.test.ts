import fs from 'node:fs';
import path from 'node:path';

import { findBreakingChanges } from '@fw/openapi/changes';
import { describe, expect, test } from 'vitest';

import type { Edit } from './testing/edits.ts';
import * as bodies from './testing/planted/bodies.ts';
import * as operations from './testing/planted/operations.ts';
import * as parameters from './testing/planted/parameters.ts';
import * as responses from './testing/planted/responses.ts';

const AREAS = Object.entries({ operations, parameters, bodies, responses });

/** The lines about an edit of a document in git, such as `users/v2`. */
function linesAbout(document: string, edit: Edit, before: Edit = () => {}): string[] {
  const file = `../../services/${document.replace('/', '/openapi/')}.json`;
  const old = JSON.parse(fs.readFileSync(path.join(import.meta.dirname, file), 'utf8'));
  before(old);
  const edited = structuredClone(old);
  edit(edited);
  expect(JSON.stringify(edited), 'the edit changes nothing').not.toBe(JSON.stringify(old));
  return findBreakingChanges(old, edited).flatMap(({ operation, changes }) =>
    changes.map((change) => `${operation}: ${change}`),
  );
}

describe.each(AREAS)('%s', (_area, { BREAKING, HARMLESS }) => {
  const breaking = BREAKING.map(([title, ...edit]) => ({ title, edit }));
  const harmless = HARMLESS.map(([title, ...edit]) => ({ title, edit }));

  test.each(breaking)('rejected: $title', ({ edit: [document, edit, line, before] }) => {
    expect(linesAbout(document, edit, before)).toContain(line);
  });

  test.each(harmless)('accepted: $title', ({ edit: [document, edit, before] }) => {
    expect(linesAbout(document, edit, before)).toEqual([]);
  });
});

test('at least 40 edits of each kind are planted', () => {
  const count = (lists: readonly (readonly unknown[])[]) => lists.flat().length;

  expect(count(AREAS.map(([, { BREAKING }]) => BREAKING))).toBeGreaterThanOrEqual(40);
  expect(count(AREAS.map(([, { HARMLESS }]) => HARMLESS))).toBeGreaterThanOrEqual(40);
});
