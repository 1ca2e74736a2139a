import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

import { expect, test } from 'vitest';

/**
 * The steps of a request (docs/architecture.md) and their files, in the order of their imports. What a step
 * only needs the words of, such as a status or an error, is in the first one. A route is composed with its
 * contract, so the contract precedes it.
 */
const STAGES: readonly (readonly [name: string, files: RegExp])[] = [
  ['words', /^(logger|options|optional-package|(node|schema)\/.*)\.ts$/],
  ['words', /^response\/(status|http-error|problem|body|response-headers)\.ts$/],
  ['context', /^((context|middleware|warnings|request-context)|request\/body-stream)\.ts$/],
  ['target', /^request\/.*\.ts$/],
  ['chain', /^compose\.ts$/],
  ['contract', /^response\/(contract|error-contract)\.ts$/],
  ['route', /^router\/.*\.ts$/],
  ['response', /^response\/.*\.ts$/],
  ['application', /^application\.ts$/],
  ['server', /^server\/.*\.ts$/],
];
const ORDER = [
  ...['words', 'target', 'context', 'chain', 'contract'],
  ...['route', 'response', 'application', 'server', 'entries'],
];

/** The position of a file in `ORDER`; entries such as index.ts may import everything. */
function stageOf(file: string): number {
  return ORDER.indexOf(STAGES.find(([, files]) => files.test(file))?.[0] ?? 'entries');
}

const FILES = globSync('**/*.ts', { cwd: import.meta.dirname }).filter(
  (file) => !/(\.test\.ts|\/testing\/.*)$/.test(file),
);

test.each(FILES)('%s imports no later step of a request, types included', (file) => {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8');
  const imports = [...text.matchAll(/\bfrom '(\.[^']+)'/g)].map(([, path = '']) =>
    posix.join(posix.dirname(file), path),
  );

  const later = imports.filter((imported) => stageOf(imported) > stageOf(file));

  expect(later).toEqual([]);
});
