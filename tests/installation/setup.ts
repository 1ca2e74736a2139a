import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { build } from 'esbuild';
import type { TestProject } from 'vitest/node';

import { packPackages } from '../../tools/packages/pack.ts';

import { compile } from './compile.ts';
import {
  asCommonJs,
  asModule,
  install,
  readPrograms,
  versionOf,
  writePrograms,
} from './project.ts';
import { installRuntimes, type Runtime, VERSIONS } from './runtimes.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The paths of the packed packages. */
    readonly tarballs: readonly string[];
    /** A project outside the repository that installed all of them, with the programs. */
    readonly project: string;
    readonly runtimes: readonly Runtime[];
  }
}

/** Packs the packages, installs them in an empty project and writes the programs in each language. */
export async function setup({ provide }: TestProject): Promise<() => void> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-installation-'));
  const remove = () => fs.rmSync(folder, { recursive: true });
  try {
    const project = path.join(folder, 'project');
    const packages = path.join(folder, 'fw/packages');
    packPackages(packages);
    const tarballs = fs.readdirSync(packages).map((name) => path.join(packages, name));
    provide('runtimes', installRuntimes());
    provide('tarballs', tarballs);
    provide('project', project);
    await createProject(project, tarballs);
    return remove;
  } catch (error) {
    remove();
    throw error;
  }
}

async function createProject(project: string, tarballs: readonly string[]): Promise<void> {
  await install(project, [
    ...tarballs,
    ...['zod', 'vitest', 'esbuild'].map((name) => `${name}@${versionOf(name)}`),
    ...VERSIONS.typescript.map((version) => `typescript-${version}@npm:typescript@${version}`),
    `tsx@${VERSIONS.tsx}`,
    `@types/node@${VERSIONS['@types/node']}`,
  ]);
  const programs = readPrograms();
  writePrograms(path.join(project, 'src'), programs);
  writePrograms(path.join(project, 'modules'), programs.map(asModule));
  writePrograms(path.join(project, 'commonjs'), programs.map(asCommonJs));
  await build({
    absWorkingDir: project,
    entryPoints: ['src/users.ts'],
    bundle: true,
    platform: 'node',
    format: 'esm',
    outExtension: { '.js': '.mjs' },
    outdir: 'bundle',
  });
  for (const version of VERSIONS.typescript) await compile(project, version, {});
}
