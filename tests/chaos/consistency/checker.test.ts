import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { buildChecker, SOURCE, startChecker } from './checker.ts';
import type { Operation } from './operation.ts';

const ADA = { name: 'Ada', email: 'ada@example.com' };
const USER = { id: 'a', ...ADA, version: 1 };
const created: Operation = {
  ...{ client: 0, call: 0, return: 10 },
  ...{ kind: 'create', key: 0, ...ADA, status: 201, user: USER },
};

function readAt(call: number, outcome: Pick<Operation, 'status' | 'user'>): Operation {
  return { client: 1, call, return: call + 10, kind: 'read', id: 'a', ...outcome };
}

function newFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-checker-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  return folder;
}

describe('the checker of histories', () => {
  test('passes its own tests', () => {
    buildChecker(newFolder());

    execFileSync('go', ['test', './...'], { cwd: SOURCE, stdio: 'pipe' });
  });

  test('accepts a legal history, in which a read returns the user before the creation responds', async () => {
    const checker = startChecker(newFolder(), 'unused.html');

    await checker.check({
      name: 'g',
      operations: [created, readAt(5, { status: 200, user: USER })],
    });

    expect(await checker.end()).toEqual({
      ...{ groups: 1, operations: 2, unknown: 0, violations: 0, undecided: 0 },
      ...{ firstViolationAfter: 0, explanation: '' },
    });
  });

  test('explains and draws a violation', async () => {
    const folder = newFolder();
    const drawing = path.join(folder, 'violation.html');
    const checker = startChecker(folder, drawing);

    await checker.check({ name: 'g', operations: [created, readAt(20, { status: 404 })] });

    const verdict = await checker.end();
    expect(verdict).toMatchObject({ violations: 1, firstViolationAfter: 2 });
    expect(verdict.explanation).toMatch(
      /^No order .* \(group g\):\n.* create .*\n.* read a: 404\n$/,
    );
    expect(fs.readFileSync(drawing, 'utf8')).toContain('read a: 404');
  });

  test('fails on input that it cannot read', async () => {
    const checker = startChecker(newFolder(), 'unused.html');

    await checker.check({ name: 'g', operations: [{ ...created, key: 99 } as Operation] });

    await expect(checker.end()).rejects.toThrow('The checker failed: Cannot check');
  });
});
