import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** The only list of versions that these tests install; the newest Node is the one that runs them. */
export const VERSIONS = {
  /** The oldest supported Node and the newest of each line. */
  node: ['22.12.0', '22.23.3', '24.21.0'],
  bun: '1.4.5',
  deno: '2.9.6',
  typescript: ['5.9.3', '7.0.2'],
  tsx: '4.23.15',
  /** Types of the oldest supported Node. */
  '@types/node': '22.20.5',
} as const;

/** A program that runs JavaScript. */
export interface Runtime {
  readonly name: string;
  /** The program and its arguments, without the file to run. */
  readonly command: readonly string[];
  /** Whether it runs TypeScript. */
  readonly runsTypeScript: boolean;
  readonly isNode: boolean;
  /** Whether it runs `@fw/service`, which needs Node 24. */
  readonly runsService: boolean;
}

/** All runtimes, which are installed into the user's cache first. */
export function installRuntimes(): Runtime[] {
  const folder = path.join(cacheFolder(), `runtimes-${versionsId()}`);
  if (!fs.existsSync(folder)) installInto(folder);
  const program = (name: string) => path.join(folder, 'node_modules', name);
  return [
    node(process.versions.node, process.execPath),
    ...VERSIONS.node.map((version) => node(version, program(`node-${version}/bin/node`))),
    {
      name: `Bun ${VERSIONS.bun}`,
      command: [program('.bin/bun')],
      runsTypeScript: true,
      isNode: false,
      runsService: false,
    },
    {
      name: `Deno ${VERSIONS.deno}`,
      command: [program('.bin/deno'), 'run', '--quiet', '--allow-all'],
      runsTypeScript: true,
      isNode: false,
      runsService: false,
    },
  ];
}

function node(version: string, program: string): Runtime {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return {
    name: `Node ${version}`,
    command: [program],
    runsTypeScript: major > 22 || minor >= 18,
    isNode: true,
    runsService: major >= 24,
  };
}

function versionsId(): string {
  const { node, bun, deno } = VERSIONS;
  return [...node, bun, deno].join('-');
}

function cacheFolder(): string {
  const { XDG_CACHE_HOME = '' } = process.env;
  const cache = path.isAbsolute(XDG_CACHE_HOME)
    ? XDG_CACHE_HOME
    : path.join(os.homedir(), '.cache');
  return path.join(cache, 'fw');
}

/** Installs the binaries of Node from the package of this platform, which needs no install script. */
function installInto(folder: string): void {
  const draft = `${folder}.${process.pid}`;
  const platform = `node-${process.platform}-${process.arch}`;
  fs.mkdirSync(draft, { recursive: true });
  fs.writeFileSync(path.join(draft, 'package.json'), '{"private":true}');
  const packages = [
    ...VERSIONS.node.map((version) => `node-${version}@npm:${platform}@${version}`),
    `bun@${VERSIONS.bun}`,
    `deno@${VERSIONS.deno}`,
  ];
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', ...packages], {
    cwd: draft,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  fs.renameSync(draft, folder);
}
