import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { onTestFinished } from 'vitest';

/** Creates a temporary folder, which is removed at the end of the test, or by `atEnd`, such as `afterAll`. */
export function newFolder(
  prefix: string,
  atEnd: (remove: () => void) => void = onTestFinished,
): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), prefix));
  atEnd(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}
