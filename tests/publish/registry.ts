import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { runProgram } from '../../deploy/local/cluster/program.ts';
import { folders } from '../../deploy/local/state.ts';
import { freePort } from '../../deploy/local/testing/ports.ts';
import { startProgram } from '../../deploy/local/testing/program.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { ensureTool } from '../../tools/programs.ts';

/** bcrypt hash of "secret". */
const HTPASSWD = 'ada:$2b$05$abcdefghijklmnopqrstuuOQiyCxlgf/oeuTqixKmWdcYUh4Hjl0a\n';

/** A registry with its data in a folder (https://github.com/distribution/distribution), and a key pair. */
export interface TestRegistry extends AsyncDisposable {
  /** Such as `127.0.0.1:40123/fw`. */
  readonly name: string;
  readonly port: number;
  /** Contains `cosign.key`, `cosign.pub` and the configuration of Docker. */
  readonly folder: string;
  /** Environment with credentials for the registry and without a password of the key. */
  readonly env: NodeJS.ProcessEnv;
  /** The links to every manifest, tag and layer, with the digests they contain. */
  content(): Readonly<Record<string, string>>;
  /** Publishes the images and the charts. @throws {Error} with the end of the output */
  publish(tag: string, env?: NodeJS.ProcessEnv): Promise<string>;
}

/** Starts a registry that needs credentials. */
export async function startRegistry(): Promise<TestRegistry> {
  const port = await freePort();
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-registry-'));
  const file = (name: string, content: string) =>
    fs.writeFileSync(path.join(folder, name), content);
  const auth = Buffer.from('ada:secret').toString('base64');
  file('htpasswd', HTPASSWD);
  file('config.json', JSON.stringify({ auths: { [`127.0.0.1:${port}`]: { auth } } }));
  file(
    'registry.json',
    JSON.stringify({
      version: '0.1',
      log: { level: 'error', accesslog: { disabled: true } },
      storage: { filesystem: { rootdirectory: path.join(folder, 'data') } },
      http: { addr: `127.0.0.1:${port}` },
      auth: { htpasswd: { realm: 'test', path: path.join(folder, 'htpasswd') } },
    }),
  );
  const env = { ...process.env, DOCKER_CONFIG: folder, COSIGN_PASSWORD: '', ALLOW_DIRTY: '1' };
  await runProgram(ensureTool('cosign'), ['generate-key-pair'], { cwd: folder, env });
  const registry = await startProgram(
    [ensureTool('registry'), 'serve', path.join(folder, 'registry.json')],
    { ready: `http://127.0.0.1:${port}/v2/` },
  );

  const name = `127.0.0.1:${port}/fw`;
  const images: string[] = [];
  return {
    name,
    port,
    folder,
    env,
    content() {
      const cwd = path.join(folder, 'data/docker/registry/v2/repositories');
      const links = fs.existsSync(cwd) ? fs.globSync('**/link', { cwd }).toSorted() : [];
      return Object.fromEntries(
        links.map((link) => [link, fs.readFileSync(path.join(cwd, link), 'utf8')]),
      );
    },
    publish(tag, more = {}) {
      images.push(...SERVICE_NAMES.map((service) => `fw-${service}:${tag}`));
      const given = { REGISTRY: name, TAG: tag, COSIGN_KEY: path.join(folder, 'cosign.key') };
      // TAG=… of the command line that runs the tests would win.
      const options = { ...env, ...given, MAKEFLAGS: '', ...more };
      return runProgram('make', ['--silent', 'publish'], { cwd: folders.root, env: options });
    },
    async [Symbol.asyncDispose]() {
      const all = images.flatMap((image) => [image, `${name}/${image}`]);
      await runProgram('docker', ['rmi', ...all]).catch(() => 'Some were not built.');
      await registry.stop('SIGKILL');
      fs.rmSync(folder, { recursive: true });
    },
  };
}

/** A script with the shell blocks of `deploy/README.md`, "From a registry", that contain `command`. */
export function scriptOf(command: string, { name, folder }: TestRegistry, tag: string): string {
  const page = fs.readFileSync(path.join(folders.root, 'deploy/README.md'), 'utf8');
  const [section = ''] = (page.split('## From a registry\n')[1] ?? '').split(/^## /m);
  const blocks = [...section.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
  return `set -euo pipefail
helm() { command helm "$@" --plain-http; }
cd '${folder}'
${blocks
  .filter((block) => block.includes(command))
  .join('\n')
  .replaceAll('registry.example.org/fw', name)
  .replaceAll('0.1.0', tag)}`;
}
