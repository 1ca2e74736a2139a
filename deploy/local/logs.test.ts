import fs from 'node:fs';
import path from 'node:path';
import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';
import { createMerge, followFile, labelLine } from './logs.ts';

/** Follows logs with these texts; returns their files, and the printed lines. */
function follow(texts: Readonly<Record<string, string>>) {
  const folder = newFolder('fw ü logs-');
  const file = (name: string) => path.join(folder, `${name}.log`);
  const printed: string[] = [];
  const add = createMerge((line) => void printed.push(labelLine(line)), 50);
  for (const [name, text] of Object.entries(texts)) {
    fs.writeFileSync(file(name), text);
    const reader = followFile(file(name), (line) => add(name, line));
    onTestFinished(() => void reader.kill());
  }
  return { file, printed };
}

const entry = (second: number, message: string) =>
  `{"level":"info","time":"2026-01-01T00:00:${second}.500Z","message":"${message}"}\n`;
const labelled = (replica: string, line: string) => `{"replica":"${replica}",${line.slice(1, -1)}`;

test('make logs prints the last five lines of each replica in the order of their times', async () => {
  const first = [10, 12, 14, 16, 18, 20].map((second) => entry(second, 'one'));
  const second = [11, 13, 15, 17, 19, 21].map((each) => entry(each, 'two'));

  const { printed } = follow({ 'users-1': first.join(''), 'users-2': second.join('') });

  await expect
    .poll(() => printed)
    .toEqual(
      [1, 2, 3, 4, 5].flatMap((index) => [
        labelled('users-1', first[index] ?? ''),
        labelled('users-2', second[index] ?? ''),
      ]),
    );
});

test('make logs prints the lines of a stack and those of other programs with their replica', async () => {
  // nginx writes the local time.
  const local = new Date('2026-01-01T00:00:12Z').toLocaleString('sv').replaceAll('-', '/');
  const { printed } = follow({
    'users-1': `${entry(10, 'one')}Error: broken\n    at read\n${entry(13, 'two')}`,
    edge: `${local} [error] 7#7: no live upstreams\n{"time":"2026-01-01T00:00:12+00:00","endSeconds":1767225612.700}\n`,
    zipkin: '2026-01-01T00:00:11.000Z  INFO started\n',
  });

  await expect
    .poll(() => printed)
    .toEqual([
      labelled('users-1', entry(10, 'one')),
      'users-1 Error: broken',
      'users-1     at read',
      'zipkin 2026-01-01T00:00:11.000Z  INFO started',
      `edge ${local} [error] 7#7: no live upstreams`,
      '{"replica":"edge","time":"2026-01-01T00:00:12+00:00","endSeconds":1767225612.700}',
      labelled('users-1', entry(13, 'two')),
    ]);
});

test('make logs prints each new line once, also of a log that was replaced', async () => {
  const { file, printed } = follow({ 'users-1': `${entry(10, 'one')}{"level":` });
  await expect.poll(() => printed).toEqual([labelled('users-1', entry(10, 'one'))]);

  fs.appendFileSync(file('users-1'), entry(11, 'two').slice('{"level":'.length));
  await expect.poll(() => printed).toHaveLength(2);
  fs.rmSync(file('users-1'));
  fs.writeFileSync(file('users-1'), entry(12, 'three'));

  await expect
    .poll(() => printed)
    .toEqual(
      ['one', 'two', 'three'].map((text, index) => labelled('users-1', entry(10 + index, text))),
    );
});
