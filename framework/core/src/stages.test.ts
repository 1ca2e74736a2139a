import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

import { expect, test } from 'vitest';

/**
 * The steps of a request (docs/architecture.md) and their files; the first pattern that matches counts. Values
 * and types that every step uses, such as a status or an error, are `basics`. The chain knows only the
 * interface of the context. The contract precedes the route, because a route is composed with its contract.
 */
const STAGES: readonly (readonly [name: string, files: RegExp])[] = [
  ['basics', /^(logger|request-log|warnings|options|optional-package|(node|schema)\/.*)\.ts$/],
  ['basics', /^response\/(status|http-error|problem|body|response-headers)\.ts$/],
  ['context', /^(request-context|request\/body-stream)\.ts$/],
  ['target', /^request\/.*\.ts$/],
  ['chain', /^(context|middleware|compose)\.ts$/],
  ['contract', /^response\/contract\.ts$/],
  ['route', /^router\/.*\.ts$/],
  ['response', /^response\/.*\.ts$/],
  ['application', /^application\.ts$/],
  ['server', /^server\/.*\.ts$/],
];
const ORDER = [
  ...['basics', 'target', 'chain', 'context', 'contract'],
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
