import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { expect, onTestFinished, test } from 'vitest';

import { ensureTool } from '../../../tools/programs.ts';
import { only, readObjects } from './render.ts';

const root = path.resolve(import.meta.dirname, '../../..');

/** The first shell block of the section `heading` of docs/your-own-service.md. */
function blockOf(heading: string): string {
  const page = fs.readFileSync(path.join(root, 'docs/your-own-service.md'), 'utf8');
  const [, section = ''] = page.split(`### ${heading}\n`);
  return /```sh\n(.*?)```/s.exec(section)?.[1] ?? '';
}

test('the commands of docs/your-own-service.md render a chart in another repository', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-own-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  fs.symlinkSync(root, path.join(folder, 'fw'));
  fs.mkdirSync(path.join(folder, 'hello'));
  const PATH = `${path.dirname(ensureTool('helm'))}:${process.env.PATH}`;

  const block = blockOf('The charts in your own repository');
  const { status, stdout, stderr } = spawnSync('bash', ['-euc', block], {
    cwd: path.join(folder, 'hello'),
    env: { ...process.env, PATH },
    encoding: 'utf8',
  });

  expect(status, stderr).toBe(0);
  const objects = readObjects(stdout.replace(/^Successfully packaged .*\n/, ''));
  const [container] = only(objects, 'Deployment').spec.template.spec.containers;
  expect(container.image).toBe('registry.example.org/hello:1.0.0');
  expect(only(objects, 'Service').metadata.name).toBe('hello');
});
