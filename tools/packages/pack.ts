import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import {
  type Published,
  publishedName,
  publishedVersions,
} from '../../framework/create/src/packages.ts';

const ROOT = path.resolve(import.meta.dirname, '../..');

/** What a `package.json` of the framework contains. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly dependencies: Readonly<Record<string, string>>;
  /** The entries of the package: `"./testing": "./src/testing/index.ts"`. */
  readonly exports: Readonly<Record<string, string>>;
  /** The programs of the package. */
  readonly bin?: Readonly<Record<string, string>>;
  readonly files: readonly string[];
}

/** A package of the framework and its folder. */
export interface Package {
  readonly folder: string;
  readonly manifest: Manifest;
}

/** How the manifests of published packages differ from those of this repository; imports stay the same. */
export interface Release extends Published {
  /** The address of the repository, such as `https://github.com/acme/fw`; a provenance needs it. */
  readonly source?: string;
}

/** The packages that users install: those of the framework that are not private. */
export function listPackages(): Package[] {
  return fs
    .globSync('framework/*/package.json', { cwd: ROOT })
    .map((file) => ({
      folder: path.join(ROOT, path.dirname(file)),
      manifest: JSON.parse(fs.readFileSync(path.join(ROOT, file), 'utf8')) as Manifest,
    }))
    .filter(({ manifest }) => !manifest.private)
    .sort((one, other) => one.folder.localeCompare(other.folder));
}

/**
 * Compiles the packages and packs them with npm into the folder `target`, which is replaced. The same
 * sources give the same bytes. A release replaces their names and versions.
 *
 * @throws {Error} if a package does not compile
 */
export function packPackages(target: string, release?: Release): void {
  fs.mkdirSync(path.join(ROOT, '.local'), { recursive: true });
  const folder = fs.mkdtempSync(path.join(ROOT, '.local/packages-'));
  try {
    const packages = listPackages();
    compile(folder, packages);
    const stages = packages.map((each) => createStage(folder, each, release));
    fs.rmSync(target, { recursive: true, force: true });
    fs.mkdirSync(target, { recursive: true });
    const options = ['--silent', '--ignore-scripts', '--pack-destination', target];
    execFileSync('npm', ['pack', ...options, ...stages], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  } finally {
    fs.rmSync(folder, { recursive: true });
  }
}

/**
 * Writes the JavaScript and the declarations of all packages, and removes the declarations that no entry
 * imports: users cannot see them.
 */
function compile(folder: string, packages: readonly Package[]): void {
  const sources = packages.flatMap(sourcesOf);
  const declarations = { declaration: true, declarationMap: true, emitDeclarationOnly: true };
  runCompiler(folder, sources, declarations);
  // The declarations contain the comments.
  runCompiler(folder, sources, { removeComments: true });
  const entries = packages.flatMap(({ folder: source, manifest }) =>
    Object.values(manifest.exports).map((entry) =>
      path.join(folder, path.basename(source), declarationOf(entry)),
    ),
  );
  const used = runCompiler(folder, entries, { rootDir: folder, noEmit: true, listFiles: true });
  for (const file of fs.globSync(`${folder}/**/*.d.ts`)) {
    if (!used.includes(file)) for (const each of [file, `${file}.map`]) fs.rmSync(each);
  }
}

/** The sources to pack: those that its `files` do not exclude. */
function sourcesOf({ folder, manifest }: Package): string[] {
  const excluded = manifest.files.filter((one) => one.startsWith('!')).map((one) => one.slice(1));
  return fs
    .globSync('src/**/*.ts', { cwd: folder, exclude: excluded })
    .map((file) => path.join(folder, file));
}

function declarationOf(source: string): string {
  return source.replace(/\.ts$/, '.d.ts');
}

/** Runs `tsc`, and returns the lines that it prints. */
function runCompiler(folder: string, files: readonly string[], options: object): string[] {
  const config = path.join(folder, 'tsconfig.json');
  const base = path.join(import.meta.dirname, 'tsconfig.json');
  writeJson(config, { extends: base, compilerOptions: { outDir: folder, ...options }, files });
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc');
  const { status, stdout } = spawnSync(process.execPath, [tsc, '--project', config], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Cannot compile the packages:\n${stdout}`);
  return stdout.split('\n');
}

/** The folder that npm packs: the output of the compiler, and the sources of the declarations. */
function createStage(outputs: string, { folder, manifest }: Package, release?: Release): string {
  const stage = path.join(outputs, path.basename(folder));
  const dist = path.join(stage, 'dist');
  fs.renameSync(path.join(stage, 'src'), dist);
  const others = manifest.files.filter((name) => name !== 'src' && !name.startsWith('!'));
  for (const name of ['README.md', ...others]) {
    fs.cpSync(path.join(folder, name), path.join(stage, name), { recursive: true });
  }
  for (const map of fs.globSync('**/*.d.ts.map', { cwd: dist })) {
    const file = path.join(dist, map);
    const source = path.join('src', map.replace('.d.ts.map', '.ts'));
    fs.cpSync(path.join(folder, source), path.join(stage, source));
    const content = JSON.parse(fs.readFileSync(file, 'utf8'));
    content.sources = [path.relative(path.dirname(file), path.join(stage, source))];
    fs.writeFileSync(file, JSON.stringify(content));
  }
  fs.copyFileSync(path.join(ROOT, 'LICENSE'), path.join(stage, 'LICENSE'));
  const released = release && releasedFields({ folder, manifest }, release);
  writeJson(path.join(stage, 'package.json'), { ...packedManifest(manifest), ...released });
  // npm packs the permissions, which depend on the umask.
  for (const file of fs.readdirSync(stage, { recursive: true, withFileTypes: true })) {
    if (file.isFile()) fs.chmodSync(path.join(file.parentPath, file.name), 0o644);
  }
  return stage;
}

function writeJson(file: string, value: unknown): void {
  fs.writeFileSync(file, `${JSON.stringify(value, undefined, 2)}\n`);
}

/** The manifest of the packed package: its entries are the output of the compiler. */
function packedManifest(manifest: Manifest): object {
  const { bin = {}, exports } = manifest;
  const entries = Object.entries(exports).map(([name, source]) => [
    name,
    { types: built(source, '.d.ts'), default: built(source, '.js') },
  ]);
  const programs = Object.entries(bin).map(([name, source]) => [name, built(source, '.js')]);
  return {
    ...manifest,
    ...(manifest.bin && { bin: Object.fromEntries(programs) }),
    sideEffects: false,
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    files: ['dist', ...manifest.files],
  };
}

/** The fields of the packed manifest that differ in a registry. */
function releasedFields({ folder, manifest }: Package, release: Release) {
  const { scope, version, source } = release;
  const directory = path.relative(ROOT, folder);
  return {
    name: publishedName(manifest.name, scope),
    version,
    dependencies: publishedVersions(manifest.dependencies, release),
    devDependencies: undefined,
    ...(source && { repository: { type: 'git', url: `git+${source}.git`, directory } }),
  };
}

/** The file that the compiler writes for `./src/x.ts`. */
function built(source: string, extension: string): string {
  return source.replace('./src/', './dist/').replace(/\.ts$/, extension);
}

/** `node pack.ts [TARGET]` packs into TARGET, by default `packages` of this checkout. */
if (import.meta.main) {
  const [target = path.join(ROOT, 'packages')] = process.argv.slice(2);
  console.log('Building the packages');
  packPackages(path.resolve(target));
  for (const name of fs.readdirSync(target)) {
    const { size } = fs.statSync(path.join(target, name));
    console.log(`${name.padEnd(40)} ${(size / 1000).toFixed(1).padStart(6)} kB`);
  }
}
