import { createRequire } from 'node:module';

/** Who needs an optional package. */
interface OptionalPackage<Module> {
  /** The function that needs it, for the error. */
  readonly user: string;
  /** The URL of the module that loads it. */
  readonly from: string;
  /**
   * Calls `require` with the name: bundlers include what that names, and fail if it is missing, unless
   * the call is inside `try`. Without a bundler, a module has no `require`.
   */
  readonly bundled?: () => Module;
}

/**
 * Loads a package that an application installs only if it uses a certain function.
 *
 * @throws {TypeError} with the command that installs the package
 */
export function loadOptional<Module>(name: string, options: OptionalPackage<Module>): Module {
  const { user, from, bundled } = options;
  try {
    if (bundled) return bundled();
  } catch {
    // There is no bundle.
  }
  try {
    return createRequire(from)(name);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // Otherwise the package itself is broken, or lacks another one.
    if (code !== 'MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw cause;
    const [installed] = /^(?:@[^/]+\/)?[^/]+/.exec(name) ?? [];
    throw new TypeError(
      `Cannot use ${user} without the package "${installed}": npm install ${installed}`,
      { cause },
    );
  }
}
