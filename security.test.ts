import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from 'vitest';

const root = import.meta.dirname;
const text = readFileSync(join(root, 'SECURITY.md'), 'utf8');

/** The rows of all tables of the threat model, as cells. */
const rows = text
  .split('\n')
  .filter((line) =>
    /^\| (?:Spoofing|Tampering|Repudiation|Disclosure|Denial|Elevation): /.test(line),
  )
  .map((line) => line.split('|').map((cell) => cell.trim()));

function linksOf(markdown: string): string[] {
  return [...markdown.matchAll(/\]\((?!https:)([^)]+)\)/g)].map(([, file = '']) => file);
}

test('the threat model names an existing file or test for each mitigation', () => {
  const withoutProof = rows.filter(([, , , proof = '']) => linksOf(proof).length === 0);

  expect(rows.length).toBeGreaterThan(20);
  expect(withoutProof).toEqual([]);
});

test('every file that SECURITY.md names exists', () => {
  const missing = linksOf(text).filter((file) => !existsSync(join(root, file)));

  expect(missing).toEqual([]);
});

test('the threat model covers every boundary and every kind of threat', () => {
  const boundaries = [...text.matchAll(/^### ([①-⑨])/gm)].map(([, mark]) => mark);
  const kinds = new Set(rows.map(([, threat = '']) => threat.split(':')[0]));

  expect(boundaries).toEqual(['①', '②', '③', '④', '⑤']);
  expect(kinds.size).toBe(6);
});
