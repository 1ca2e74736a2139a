/** What `package.json` of a service contains. */
export interface Manifest {
  readonly name: string;
  /** Versions by name. */
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

/**
 * The text of `package.json` with `versions` in place of those of the manifest. Those that it does not list
 * become dependencies.
 *
 * @throws {Error} if the service has the name of one of its dependencies
 */
export function writeManifest(
  { dependencies, devDependencies, ...manifest }: Manifest,
  versions: Readonly<Record<string, string>>,
): string {
  const all: Readonly<Record<string, string>> = {
    ...dependencies,
    ...devDependencies,
    ...versions,
  };
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
