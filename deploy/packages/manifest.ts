import fs from 'node:fs';
import path from 'node:path';

/** What a `package.json` of the framework contains. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  /** The entries of the package: `"./testing": "./src/testing/index.ts"`. */
  readonly exports: Readonly<Record<string, string>>;
  /** The programs of the package. */
  readonly bin?: Readonly<Record<string, string>>;
  /** The folders to pack, and after `!` what they contain but the package does not. */
  readonly files: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [key: string]: unknown;
}

/** A package of the framework and its folder. */
export interface Package {
  readonly folder: string;
  readonly manifest: Manifest;
}

/**
 * The packages of the checkout at `root` that users install, each after those it depends on: the
 * workspaces of the framework that are not private.
 *
 * @throws {Error} if two packages depend on each other
 */
export function listPackages(root: string): Package[] {
  const { workspaces } = readJson<{ workspaces: string[] }>(path.join(root, 'package.json'));
  const framework = workspaces.filter((pattern) => pattern.startsWith('framework/'));
  const packages = fs
    .globSync(framework, { cwd: root })
    .sort()
    .map((folder) => path.join(root, folder))
    .filter((folder) => fs.existsSync(path.join(folder, 'package.json')))
    .map((folder) => ({ folder, manifest: readJson<Manifest>(path.join(folder, 'package.json')) }))
    .filter(({ manifest }) => !manifest.private);
  return inBuildOrder(packages);
}

function readJson<T>(file: string): T {
  return JSON.parse(fs.readFileSync(file, 'utf8'));
}

function inBuildOrder(packages: readonly Package[]): Package[] {
  const names = new Set(packages.map(({ manifest }) => manifest.name));
  const ordered: Package[] = [];
  const remaining = new Set(packages);
  while (remaining.size > 0) {
    const built = new Set(ordered.map(({ manifest }) => manifest.name));
    const next = [...remaining].find(({ manifest }) =>
      Object.keys(manifest.dependencies ?? {}).every((name) => !names.has(name) || built.has(name)),
    );
    if (!next) {
      const left = [...remaining].map(({ manifest }) => manifest.name);
      throw new Error(`Cannot order the packages ${left.join(', ')}: they depend on each other`);
    }
    ordered.push(next);
    remaining.delete(next);
  }
  return ordered;
}

/** The fields of a manifest that users of the package need, in the order in which they are written. */
const PACKED_FIELDS = [
  'name',
  'version',
  'description',
  'license',
  'type',
  'engines',
  'dependencies',
  'peerDependencies',
  'peerDependenciesMeta',
] as const;

/** The manifest of the packed package: its entries are the build, and its files the build and its sources. */
export function packedManifest(manifest: Manifest): Record<string, unknown> {
  const entries = Object.entries(manifest.exports).map(([name, source]) => [
    name,
    { types: built(source, '.d.ts'), default: built(source, '.js') },
  ]);
  const programs = Object.entries(manifest.bin ?? {}).map(([name, source]) => [
    name,
    built(source, '.js'),
  ]);
  return {
    ...Object.fromEntries(PACKED_FIELDS.map((field) => [field, manifest[field]])),
    ...(manifest.bin && { bin: Object.fromEntries(programs) }),
    sideEffects: false,
    exports: { ...Object.fromEntries(entries), './package.json': './package.json' },
    files: ['dist', ...manifest.files.filter((name) => !name.startsWith('!'))],
  };
}

/** The file that the compiler writes for `./src/x.ts`. */
function built(source: string, extension: string): string {
  return source.replace('./src/', './dist/').replace(/\.ts$/, extension);
}
