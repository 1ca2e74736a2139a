import { createRouter } from '@fw/core';
import type { StandardSchema } from '@fw/core/schema';
import { type } from 'arktype';
import fc from 'fast-check';
import * as v from 'valibot';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';

import { issuesOf, post, readProblem, schemaOf } from './testing/requests.ts';
import { validate } from './validate.ts';

describe('the issues of a response', () => {
  test('lists 100 issues at most, of all parts', async () => {
    const many = schemaOf(() => ({ issues: Array(60).fill({ message: 'wrong' }) }));
    const both = createRouter().post('/', validate({ query: many, body: many }), (ctx) =>
      ctx.send(''),
    );

    const { errors } = await readProblem(await post(both, {}));

    expect(errors.map((issue) => issue.in)).toEqual([
      ...Array(60).fill('query'),
      ...Array(40).fill('body'),
    ]);
  });

  test('reads no more unknown keys than it lists', async () => {
    let reads = 0;
    const key = { toString: () => `key${++reads}` };
    const unknown = (count: number) => ({
      message: '',
      code: 'unrecognized_keys',
      keys: Array(count).fill(key),
    });
    const issues = [unknown(60), unknown(60), { message: 'wrong' }, unknown(110_000)];
    const schema = schemaOf(() => ({ issues }));

    const errors = await issuesOf(schema, {});

    expect({ errors: errors.length, reads }).toEqual({ errors: 100, reads: 100 });
  });

  test.each([
    ['contains a key of 100 characters', 'k'.repeat(100), `/${'k'.repeat(100)}`],
    ['ends before a key of 101 characters', 'k'.repeat(101), ''],
  ])('has a pointer that %s', async (_, key, pointer) => {
    const errors = await issuesOf(z.strictObject({}), { [key]: 1 });

    expect(errors).toEqual([{ in: 'body', pointer, detail: 'Unrecognized key' }]);
  });

  test.each([
    ['keys but another code', { code: 'other', keys: ['a'] }],
    ['the code of unknown keys but no list of them', { code: 'unrecognized_keys', keys: 1 }],
  ])('contains the message of an issue with %s', async (_, more) => {
    const errors = await issuesOf(
      schemaOf(() => ({ issues: [{ message: 'wrong', ...more }] })),
      {},
    );

    expect(errors).toEqual([{ in: 'body', pointer: '', detail: 'wrong' }]);
  });
});

describe('the input', () => {
  const _shape = {
    age: 5,
    role: 's3cr3t-role',
    email: 's3cr3t-mail',
    pin: 48159,
    nested: { a: 's3cr3t-a' },
  };
  const schemas: Record<string, StandardSchema> = {
    zod: z.strictObject({
      age: z.string(),
      role: z.enum(['a', 'b']),
      email: z.email({
        error: (issue) => `"${issue.input}" is no address, you said ${issue.input}`,
      }),
      pin: z.number().max(9, { error: (issue) => `pin ${issue.input} is too large` }),
      nested: z.union([z.object({ a: z.number() }), z.string()]),
    }),
    valibot: v.strictObject({
      age: v.string(),
      role: v.picklist(['a', 'b']),
      email: v.pipe(v.string(), v.email()),
      pin: v.pipe(v.number(), v.maxValue(9)),
      nested: v.union([v.object({ a: v.number() }), v.string()]),
    }),
    arktype: type({
      age: 'string',
      role: "'a' | 'b'",
      email: 'string.email',
      pin: 'number < 9',
      nested: type({ a: 'number' }).or('string'),
    }),
    'by hand': schemaOf((value) => ({
      issues: [{ message: `Cannot take ${JSON.stringify(value)}` }],
    })),
  };

  test.each(Object.entries(schemas))(
    '%s: never appears in the response, for generated inputs',
    async (_, schema) => {
      await fc.assert(
        fc.asyncProperty(fc.string({ minLength: 6, unit: 'grapheme' }), async (text) => {
          const mark = `~~${text.toWellFormed().replaceAll('\0', '')}~~`;
          const fields = { age: 1, role: mark, email: mark, pin: 48159, nested: { a: mark } };

          const errors = await issuesOf(schema, fields);

          for (const { detail } of errors) expect(detail).not.toContain(mark);
          for (const { detail } of errors)
            expect(detail).not.toContain(JSON.stringify(mark).slice(1, -1));
        }),
        { numRuns: 40 },
      );
    },
  );

  const row = (count: number) => Array(count).fill(0);

  test.each<[string, unknown, string, string]>([
    ['a short word in double quotes', 'ab', 'not "ab" ab', 'not "…" ab'],
    ['a short word in single quotes', 'ab', "not 'ab' ab", "not '…' ab"],
    ['a short word in backticks', 'ab', 'not `ab` ab', 'not `…` ab'],
    ['a word of five letters without quotes', 'abcde', 'not abcde', 'not …'],
    ['no word of four letters without quotes', 'abcd', 'not abcd', 'not abcd'],
    ['a number in quotes', 17, 'not "17"', 'not "…"'],
    ['an escaped string', 'a "b" c', 'not <a \\"b\\" c>', 'not <…>'],
    ['no empty string', '', 'not ""', 'not ""'],
    ['the longest string first', ['secret-key', 'secret'], 'not secret-key', 'not …'],
    ['the longest string first', ['secret', 'secret-key'], 'not secret-key', 'not …'],
    ['nothing for null', { none: null }, 'not good', 'not good'],
    ['only the values of a list of 1,000', row(1_000), 'not "0"', 'not "…"'],
    ['the message for a list of 1,001', row(1_001), 'not good', 'Invalid value'],
    ['the message for a list of 200,000', row(200_000), 'not good', 'Invalid value'],
    ['the message for two lists of 600', [row(600), row(600)], 'not good', 'Invalid value'],
    ['no message of 1,000 characters', 1, 'x'.repeat(1_000), 'x'.repeat(1_000)],
    ['a message of 1,001 characters', 1, 'x'.repeat(1_001), 'Invalid value'],
  ])('masks %s', async (_, value, message, detail) => {
    const schema = schemaOf(() => ({ issues: [{ message, path: ['field'] }] }));

    const errors = await issuesOf(schema, { field: value, other: 'not good' });

    expect(errors).toEqual([{ in: 'body', pointer: '/field', detail }]);
  });

  const gt7 = v.pipe(v.number(), v.gtValue(7));
  const small = type({ a: 'number < 5' }).or({ b: 'number < 5' });

  test.each<[string, StandardSchema, unknown, string]>([
    ['valibot', v.object({ a: v.string() }), { a: 7 }, 'Expected string but received …'],
    ['valibot: no limit', v.object({ a: gt7 }), { a: 7 }, 'Expected >7 but received …'],
    ['arktype', type({ a: 'number < 7' }), { a: 7 }, 'must be less than 7 (was …)'],
    ['arktype: two rules', type({ a: 'number < 5 & number % 2' }), { a: 7 }, '(…) must be...'],
    [
      'arktype: two schemas',
      small,
      { a: 7, b: 8 },
      'a must be less than 5 (was …) or b must be less than 5 (was …)',
    ],
  ])('is masked in messages of %s', async (_, schema, value, detail) => {
    const [issue] = await issuesOf(schema, value);

    expect(issue?.detail).toContain(detail);
  });

  test.each([
    ['null', null],
    ['a string', 'text'],
    ['nothing', undefined],
  ])('at a path that leads through %s is not read', async (_, field) => {
    const schema = schemaOf(() => ({ issues: [{ message: 'wrong', path: ['field', 'length'] }] }));

    const errors = await issuesOf(schema, { field });

    expect(errors).toEqual([{ in: 'body', pointer: '/field/length', detail: 'wrong' }]);
  });

  test('does not remove the words of the schema from the message', async () => {
    const errors = await issuesOf(z.object({ type: z.literal('user'), name: z.string().min(3) }), {
      type: 'x',
      name: 'a',
    });

    expect(errors).toEqual([
      { in: 'body', pointer: '/type', detail: 'Invalid input: expected "user"' },
      { in: 'body', pointer: '/name', detail: 'Too small: expected string to have >=3 characters' },
    ]);
  });
});
