import { expect, test } from 'vitest';

import { ownFramesFirst } from './stack-frames.ts';

const FRAMEWORK = new URL('../../../core/src/compose.ts', import.meta.url).href;

test('the frames of the own code precede those of Node, packages and the framework, in each stack', () => {
  const text = `Error: no total
    at JSON.parse (<anonymous>)
    at Object.read (file:///app/node_modules/reader/index.js:1:1)
    at link (${FRAMEWORK}:70:5)
    at total (file:///app/src/total.ts:3:9)
    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)
    at async file:///app/src/v1.ts:12:3 {
  [cause]: Error: no disk
      at fs.read (node:fs:1:1)
      at open (file:///app/src/disk.ts:8:2)
}`;

  expect(ownFramesFirst(text)).toBe(`Error: no total
    at JSON.parse (<anonymous>)
    at total (file:///app/src/total.ts:3:9)
    at Object.read (file:///app/node_modules/reader/index.js:1:1)
    at link (${FRAMEWORK}:70:5)
    at process.processTicksAndRejections (node:internal/process/task_queues:104:5)
    at async file:///app/src/v1.ts:12:3 {
  [cause]: Error: no disk
      at open (file:///app/src/disk.ts:8:2)
      at fs.read (node:fs:1:1)
}`);
});

test.each(['', 'a text', 'Error: x', 'Error: at noon (12:30:15) the disk was full'])(
  '%j without frames is unchanged',
  (text) => {
    expect(ownFramesFirst(text)).toBe(text);
  },
);
