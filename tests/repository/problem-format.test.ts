import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRouter, ValidationError } from '@fw/core';
import { generateDocument } from '@fw/openapi';
import { describe, expect, test } from 'vitest';

import {
  PROBLEM_TYPE,
  problemOf,
  problemOfStatus,
} from '../../framework/core/src/response/problem.ts';
import { CODES, SAMPLE } from '../../framework/openapi/page/problem.ts';

/** Every error response has the format of `framework/core/src/response/problem.ts`. */
const differs = (file: string) =>
  `${file} differs from framework/core/src/response/problem.ts: change both`;

describe('the nginx configuration', () => {
  const file = 'deploy/nginx/nginx.conf';
  const source = readFileSync(join(import.meta.dirname, '../..', file), 'utf8');

  /** The entries of `map $status $<variable>`. */
  function readMap(variable: string): [string, string][] {
    const [, block = ''] =
      new RegExp(`map \\$status \\$${variable} \\{([^}]*)\\}`).exec(source) ?? [];
    return [...block.matchAll(/^\s*(\w+) "?([^";]+)"?;/gm)].map(([, status = '', value = '']) => [
      status,
      value,
    ]);
  }

  test.each([
    ['problem_title', 'title'],
    ['problem_code', 'code'],
  ] as const)('maps each status to the same value as the framework: $%s', (variable, member) => {
    const map = readMap(variable);

    const expected = map.map(([status]) => [
      status,
      problemOfStatus(status === 'default' ? 400 : Number(status))[member],
    ]);
    expect(map.length, differs(file)).toBeGreaterThan(5);
    expect(map, differs(file)).toEqual(expected);
  });

  test('sends a body with the members of a problem, as the same media type', () => {
    const [, template = ''] = /location @problem \{.*?return \d+ '([^']+)'/s.exec(source) ?? [];
    const [, mediaType] = /location @problem \{.*?default_type ([^;]+);/s.exec(source) ?? [];
    const values: Record<string, string> = {
      problem_title: 'Not Found',
      problem_code: 'NOT_FOUND',
      status: '404',
    };
    const body = template.replace(/\$(\w+)/g, (_, name: string) => values[name] ?? 'id');

    expect(body, differs(file)).toBe(JSON.stringify(problemOfStatus(404, 'id')));
    expect(mediaType, differs(file)).toBe(PROBLEM_TYPE);
  });
});

const issue = { in: 'body', pointer: '/age', detail: 'expected a number' } as const;
const problem = problemOf(new ValidationError([issue]), SAMPLE.requestId);

test('the OpenAPI schema describes every member of a problem', async () => {
  const file = 'framework/openapi/src/responses.ts';
  const router = createRouter().get('/', (ctx) => ctx.json({}));

  const { components } = await generateDocument(router.getRoutes());

  const schema = components?.schemas?.Problem as {
    required: string[];
    properties: Record<string, { items?: { properties: object } }>;
  };
  expect(Object.keys(schema.properties), differs(file)).toEqual(Object.keys(problem));
  expect(schema.required, differs(file)).toEqual(Object.keys(problemOfStatus(400)));
  expect(Object.keys(schema.properties.errors?.items?.properties ?? {}), differs(file)).toEqual(
    Object.keys(issue),
  );
  expect(JSON.stringify(components?.responses), differs(file)).toContain(`"${PROBLEM_TYPE}"`);
});

test('the documentation page shows the format and the codes of the framework', () => {
  const file = 'framework/openapi/page/problem.ts';

  expect(SAMPLE, differs(file)).toEqual(problem);
  for (const status of new Set(CODES.map(([status]) => status))) {
    const codes = CODES.filter(([other]) => other === status).map(([, code]) => code);
    expect(codes, differs(file)).toContain(problemOfStatus(status).code);
  }
});
