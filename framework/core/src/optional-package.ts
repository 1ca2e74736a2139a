import { createRequire } from 'node:module';

/**
 * Loads a package that an application installs only if it uses `user`, for the module `from`. It is for
 * use after `require('name')` has failed: bundlers include what that names, if it is installed, but
 * without a bundler a module has no `require`.
 *
 * @throws {TypeError} with the command that installs the package
 */
export function loadOptional<Module>(
  name: string,
  { user, from }: { readonly user: string; readonly from: string },
): Module {
  try {
    return createRequire(from)(name);
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    // Otherwise the package itself is broken, or lacks another one.
    if (code !== 'MODULE_NOT_FOUND' || !message.includes(`'${name}'`)) throw cause;
    const [, installed] = /^((?:@[^/]+\/)?[^/]+)/.exec(name) ?? [];
    throw new TypeError(
      `Cannot use ${user} without the package "${installed}": npm install ${installed}`,
      { cause },
    );
  }
}
