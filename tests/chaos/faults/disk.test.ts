import fs from 'node:fs';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { createDisk } from './disk.ts';

const canMount = process.platform === 'linux' && process.getuid?.() === 0;

test.skipIf(!canMount)('a disk accepts no byte while it is full', () => {
  const disk = createDisk();
  onTestFinished(disk.remove);
  const write = () => fs.writeFileSync(path.join(disk.folder, 'file'), 'text');

  disk.fill();
  expect(write).toThrow('ENOSPC');
  disk.free();
  expect(write).not.toThrow();
});
