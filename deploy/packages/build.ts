import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { listPackages, type Package, packedManifest } from './manifest.ts';
import { reachable } from './reachable.ts';
import { packedReadme } from './readme.ts';
import { declarationMapOf, sourceMapOf } from './source-map.ts';
import { javaScriptOf, withJavaScriptImports } from './strip.ts';

/** A built package. */
export interface Build {
  /** The name of the package and its version, as in `fw-core-0.1.0`. */
  readonly name: string;
  readonly folder: string;
  /** The files to pack, as paths in `folder`. */
  readonly files: readonly string[];
}

/**
 * Builds the packages of the checkout at `root` in the empty folder `target`, which is in the checkout so
 * that the compiler finds the dependencies. Each package is compiled against the declarations of those
 * before it, as the project of a user would be.
 *
 * @throws {Error} with the output of the compiler, if a package does not compile
 */
export function buildPackages(root: string, target: string): Build[] {
  return listPackages(root).map((each) => buildPackage(root, target, each));
}

function buildPackage(root: string, target: string, { folder, manifest }: Package): Build {
  const stage = path.join(target, path.basename(folder));
  fs.cpSync(path.join(folder, 'src'), path.join(stage, 'src'), { recursive: true });
  const readme = fs.readFileSync(path.join(folder, 'README.md'), 'utf8');
  fs.writeFileSync(path.join(stage, 'README.md'), packedReadme(readme));
  fs.copyFileSync(path.join(root, 'LICENSE'), path.join(stage, 'LICENSE'));
  writeJson(path.join(stage, 'package.json'), packedManifest(manifest));
  link(stage, path.join(target, 'node_modules', manifest.name));
  const entries = Object.values({ ...manifest.exports, ...manifest.bin });
  writeDeclarations(root, stage, entries);
  const modules = fs
    .globSync('dist/**/*.d.ts', { cwd: stage })
    .sort()
    .map((file) => file.slice('dist/'.length, -'.d.ts'.length));
  for (const name of modules) {
    writeJavaScript(stage, name);
    rewriteDeclarations(stage, name);
  }
  return {
    name: `${manifest.name.replace('@', '').replace('/', '-')}-${manifest.version}`,
    folder: stage,
    files: [...packedFiles(stage, entries), ...copyTemplate(folder, stage)],
  };
}

function writeJson(file: string, value: unknown): void {
  fs.writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** Lets the packages that are built later import this one by its name. */
function link(stage: string, name: string): void {
  fs.mkdirSync(path.dirname(name), { recursive: true });
  fs.symlinkSync(stage, name);
}

/** Checks the modules that the entries import, and writes their declarations. */
function writeDeclarations(root: string, stage: string, entries: readonly string[]): void {
  const base = path.join(root, 'deploy/packages/tsconfig.json');
  const config = path.join(stage, 'tsconfig.json');
  writeJson(config, { extends: path.relative(stage, base), files: entries });
  const tsc = path.join(root, 'node_modules/typescript/bin/tsc');
  try {
    execFileSync(process.execPath, [tsc, '--project', config], { encoding: 'utf8' });
  } catch (cause) {
    const { stdout } = cause as { stdout: string };
    throw new Error(`Cannot compile ${path.relative(root, stage)}:\n${stdout}`, { cause });
  }
}

/** Writes the JavaScript of a module, next to its declarations. */
function writeJavaScript(stage: string, name: string): void {
  const source = fs.readFileSync(path.join(stage, 'src', `${name}.ts`), 'utf8');
  const output = path.join(stage, 'dist', name);
  const fromOutput = path.relative(path.dirname(output), path.join(stage, 'src', `${name}.ts`));
  const map = `${path.basename(name)}.js.map`;
  fs.writeFileSync(`${output}.js`, `${javaScriptOf(source)}//# sourceMappingURL=${map}\n`);
  fs.writeFileSync(`${output}.js.map`, sourceMapOf(source, fromOutput));
}

/** Rewrites the imports and the map of the declarations that the compiler wrote for a module. */
function rewriteDeclarations(stage: string, name: string): void {
  const file = path.join(stage, 'dist', `${name}.d.ts`);
  const declarations = fs.readFileSync(file, 'utf8');
  const map = fs.readFileSync(`${file}.map`, 'utf8');
  fs.writeFileSync(file, withJavaScriptImports(declarations));
  fs.writeFileSync(`${file}.map`, declarationMapOf(declarations, map));
}

/** Copies the files of `template`, which are packed as they are. */
function copyTemplate(folder: string, stage: string): string[] {
  const files = fs
    .globSync('template/**', { cwd: folder, exclude: ['**/{dist,data,node_modules}/**'] })
    .filter((file) => fs.statSync(path.join(folder, file)).isFile())
    .sort();
  for (const file of files) fs.cpSync(path.join(folder, file), path.join(stage, file));
  return files;
}

/**
 * Only what the entries need: users cannot import the declarations of other modules. Similar files are
 * next to each other, which makes the archive a quarter smaller.
 */
function packedFiles(stage: string, entries: readonly string[]): string[] {
  const names = entries.map((entry) => path.relative('src', entry).replace(/\.ts$/, ''));
  const scripts = reachable(path.join(stage, 'dist'), names, '.js');
  const declarations = reachable(path.join(stage, 'dist'), names, '.d.ts');
  const code = [
    ...scripts.map((name) => `dist/${name}.js`),
    ...declarations.map((name) => `dist/${name}.d.ts`),
  ];
  const sources = new Set([...scripts, ...declarations].map((name) => `src/${name}.ts`));
  return [
    ...['package.json', 'README.md', 'LICENSE'],
    ...[...sources, ...code].sort((one, other) => compare(moduleOf(one), moduleOf(other))),
    ...code.map((file) => `${file}.map`),
  ];
}

/** `router/route` of `src/router/route.ts`, `dist/router/route.js` and `dist/router/route.d.ts`. */
function moduleOf(file: string): string {
  return file.replace(/^(?:src|dist)\//, '').replace(/(?:\.d)?\.[jt]s$/, '');
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
