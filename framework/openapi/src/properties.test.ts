import { createRouter } from '@fw/core';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { extractPathParams, generateDocument, toOpenApiPath } from './index.ts';

const segment = fc.oneof(
  fc.constantFrom('users', 'a-b', 'a_b', '{id}', 'caf%C3%A9', '$', '__proto__', 'constructor'),
  fc.constantFrom(':id', ':path', ':path2', ':user-id', ':__proto__'),
);
const pattern = fc
  .tuple(fc.uniqueArray(segment, { maxLength: 4 }), fc.boolean())
  .map(([segments, isWild]) => `/${[...segments, ...(isWild ? ['*'] : [])].join('/')}`);

test('for any routes, operation ids are unique and each path parameter is described once', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(fc.constantFrom('GET', 'POST', 'QUERY', 'LOCK'), pattern), {
        minLength: 1,
        maxLength: 12,
        selector: ([method, path]) =>
          `${method} ${toOpenApiPath(path).replace(/\{[^}]+\}/g, '{}')}`,
      }),
      async (routes) => {
        const documented = routes.map(([method, path]) =>
          createRouter().route(method, path, (ctx) => ctx.json({})),
        );

        const { paths } = await generateDocument(
          documented.flatMap((router) => router.getRoutes()),
        );

        const operations = Object.entries(paths).flatMap(([path, item]) =>
          Object.values(item).map((operation) => ({ path, operation })),
        );
        const ids = operations.map(({ operation }) => operation.operationId);
        expect(new Set(ids).size).toBe(ids.length);
        for (const { path, operation } of operations) {
          const inTemplate = [...path.matchAll(/\{([^}]*)\}/g)].map(([, name]) => name);
          expect(operation.parameters?.map(({ name }) => name) ?? []).toEqual(inTemplate);
          expect(new Set(inTemplate).size).toBe(inTemplate.length);
        }
        for (const [, path] of routes) {
          expect(toOpenApiPath(path).match(/\{[^}]*\}/g) ?? []).toEqual(
            extractPathParams(path).map((name) => `{${name}}`),
          );
        }
      },
    ),
    { numRuns: 1_000 },
  );
});
