import type { PackedPackage } from './packages.ts';

/** What `package.json` of a service contains. */
export interface Manifest {
  readonly name: string;
  /** Versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/**
 * The text of `package.json` with the `packed` packages in the folder `packages`. npm finds those that only
 * other packages use if they are dependencies of the service.
 *
 * @throws {Error} if the service has the name of one of its dependencies
 */
export function writeManifest(
  { dependencies, devDependencies, ...manifest }: Manifest,
  packed: ReadonlyMap<string, PackedPackage>,
): string {
  const files = Object.fromEntries(
    [...packed].map(([name, { file }]) => [name, `file:packages/${file}`]),
  );
  const all: Readonly<Record<string, string>> = { ...dependencies, ...devDependencies, ...files };
  if (Object.hasOwn(all, manifest.name)) {
    throw new Error(`Cannot name a service "${manifest.name}": it uses a package with this name`);
  }
  const choose = (isChosen: (name: string) => boolean) =>
    Object.fromEntries(
      Object.entries(all)
        .filter(([name]) => isChosen(name))
        .sort(),
    );
  const isForTests = (name: string) => Object.hasOwn(devDependencies, name);
  const written = {
    ...manifest,
    dependencies: choose((name) => !isForTests(name)),
    devDependencies: choose(isForTests),
  };
  return `${JSON.stringify(written, null, 2)}\n`;
}
