import { expect } from 'vitest';

/** Expects a TypeError with `text`, in one line that contains no key and no secret of a test. */
export function expectMistake(call: () => unknown, text: string): void {
  expect(call).toThrow(TypeError);
  expect(call).toThrow(text);
  expect(call).not.toThrow(/BEGIN|my-secret|made for tests|\n/);
}
