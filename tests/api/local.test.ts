import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

import { describe, test } from 'vitest';

import { clusterOf, PLACE } from '../../deploy/local/cluster/install.ts';
import { readKind } from '../../deploy/local/cluster/kind.ts';
import { isReady as isPodReady } from '../../deploy/local/cluster/pod.ts';
import { isReady } from '../../deploy/local/processes/process.ts';
import { replicasOf } from '../../deploy/local/processes/system.ts';
import { folders, readRunning } from '../../deploy/local/state.ts';
import { readTarget } from './target.ts';

const { api, isLocal } = readTarget();
const kind = readKind(folders.run);

describe.runIf(isLocal)('the system that make up started', () => {
  test.runIf(kind)('every pod is ready', async () => {
    const pods = await clusterOf(folders.run, AbortSignal.timeout(30_000)).pods(PLACE.namespace);

    const missing = pods.filter((pod) => !isPodReady(pod)).map(({ metadata }) => metadata.name);
    assert.deepEqual(missing, []);
    assert.ok(pods.length > 0, 'the release has pods');
  });

  test.runIf(!kind)('every process is ready', async () => {
    const running = readRunning(folders.run);

    for (const record of running) assert.ok(await isReady(record), `${record.name} is not ready`);
    assert.equal(running.length, replicasOf(0).length + 1);
  });

  test('the commands of README.md, which make up prints, return data', async () => {
    const readme = fs.readFileSync(path.join(folders.root, 'README.md'), 'utf8');
    const commands = readme.split('\n').filter((line) => line.startsWith('curl '));

    assert.ok(commands.length > 0, 'README.md contains commands');
    for (const command of commands) {
      const { data } = JSON.parse(await runCommand(command.replace('curl', 'curl --fail')));
      assert.ok(data, `${command} returns data`);
      if (command.includes('POST')) await api.send('DELETE', `/api/v2/users/${data.id}`);
    }
  });

  test('the commands of the start page have the documented output', async () => {
    const page = await (await api.get('/')).text();
    const commands = [...page.matchAll(/<pre><code>(.*?)<\/code>/gs)].map(([, html = '']) =>
      html.replace(/<\/?b>/g, '').replaceAll('&amp;', '&'),
    );
    const [create = '', search = '', report = '', mistake = ''] = commands.filter((command) =>
      command.startsWith('curl '),
    );
    const tools = commands.flatMap((command) => command.match(/\/api\/\S+\/mcp$/gm) ?? []);

    const created = await runCommand(create);
    assert.match(created, /^HTTP\/1\.1 201 /);
    await api.send('DELETE', /^location: (.+)\r$/im.exec(created)?.[1] ?? '');
    assert.equal(JSON.parse(await runCommand(search)).data.length, 3);
    assert.match(await runCommand(report), /^date,users\r\n/);
    assert.match(await runCommand(mistake), /^HTTP\/1\.1 400 /);
    assert.equal(tools.length, 2);
    for (const path of tools) {
      const message = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
      const listed = await runCommand(
        `curl http://localhost:8080${path} --json '${message}' -H 'Accept: application/json, text/event-stream'`,
      );
      assert.notEqual(JSON.parse(listed).result.tools.length, 0, listed);
    }
  });
});

/** Runs a documented command with the address and the credentials of the target, and returns its output. */
async function runCommand(documented: string): Promise<string> {
  const [path = ''] = /\/api\/[^\s'?]+/.exec(documented) ?? [];
  const { authorization } = api.credentials(path);
  const header = authorization ? ` --header 'Authorization: ${authorization}'` : '';
  const command = documented
    .replaceAll('http://localhost:8080', api.origin)
    .replace('curl', `curl --silent --show-error${header}`);
  const { stdout } = await promisify(execFile)('bash', ['-c', command], { cwd: folders.root });
  return stdout;
}
