import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { newFolder } from '@fw/service/testing/vitest';
import { afterAll, expect, inject, test } from 'vitest';

import { install, listEntries, readmeProgram, runProgram } from './project.ts';
import type { Runtime } from './runtimes.ts';

const project = inject('project');
const tarballs = inject('tarballs');
const runtimes = inject('runtimes');
const folder = newFolder('fw-packages-', afterAll);

test('all packages but @fw/service install without a registry and without a warning', async () => {
  const withoutDependencies = tarballs.filter((file) => !file.includes('fw-service-'));

  const output = await install(path.join(folder, 'offline'), ['--offline', ...withoutDependencies]);

  expect(output).toMatch(/^added \d+ packages/m);
  // npm also warns of unknown names in the configuration of this machine.
  expect(output.replaceAll(/^npm warn Unknown \w+ config .*/gm, '')).not.toMatch(/warn/i);
  expect(fs.readdirSync(path.join(folder, 'offline/node_modules')).sort()).toEqual([
    '.bin',
    '.package-lock.json',
    '@fw',
    'create-fw',
    'fw',
  ]);
});

test('the README installs all packages without a warning, and its program serves requests', async () => {
  const readme = fs.readFileSync(path.resolve(import.meta.dirname, '../../README.md'), 'utf8');
  const [, command = ''] = /^npm install (\.\.\/fw\S+)/m.exec(readme) ?? [];
  const [{ command: node }] = runtimes as [Runtime];
  // Next to the folder fw, as the README says.
  const folder = path.join(project, '../readme');

  const output = await install(folder, fs.globSync(command, { cwd: project }));
  fs.writeFileSync(path.join(folder, 'program.ts'), readmeProgram().replace('3000', '0'));
  const bodies = await runProgram([...node, 'program.ts'], folder, (origin) =>
    Promise.all([7, 8].map(async (id) => (await fetch(`${origin}/api/v1/users/${id}`)).json())),
  );

  expect(output).not.toMatch(/EBADENGINE|ERESOLVE|peer|deprecated/i);
  expect(bodies).toEqual([
    { data: { id: '7', name: 'Ada' } },
    expect.objectContaining({ status: 404, detail: 'User "8" not found', code: 'NOT_FOUND' }),
  ]);
});

test.each(runtimes)(
  'every entry of every package can be imported and required on $name',
  async (runtime) => {
    const [program = '', ...args] = runtime.command;
    const entries = listEntries().filter(
      (entry) => runtime.runsService || !entry.startsWith('@fw/service'),
    );
    const imports = entries.map((entry, at) => `import * as _${at} from '${entry}';`).join('\n');
    fs.writeFileSync(path.join(project, 'entries.js'), imports);
    const requires = entries.map((entry) => `require('${entry}');`).join('\n');
    fs.writeFileSync(path.join(project, 'entries.cjs'), requires);

    const results = await Promise.all(
      ['entries.js', 'entries.cjs'].map((file) =>
        promisify(execFile)(program, [...args, file], { cwd: project }),
      ),
    );

    expect(entries.length).toBeGreaterThan(20);
    expect(results.map(({ stdout }) => stdout)).toEqual(['', '']);
  },
);

test.each(runtimes.filter(({ runsService }) => runsService))(
  'a service with @fw/service becomes ready on $name',
  async ({ command }) => {
    const status = await runProgram(
      [...command, 'modules/monitored.js'],
      project,
      async (health) => {
        await expect.poll(async () => (await fetch(`${health}/readyz`)).status).toBe(200);
        return (await fetch(`${health}/metrics`)).status;
      },
    );

    expect(status).toBe(200);
  },
);
