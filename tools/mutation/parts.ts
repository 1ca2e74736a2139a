/** A part of the repository that `make mutation` changes, and the tests that should notice. */
export interface Part {
  /** Globs of the sources. */
  readonly mutate: readonly string[];
  /** Globs of the tests. */
  readonly tests: readonly string[];
}

const PARTS: Readonly<Record<string, Part>> = {
  core: framework('core', 'framework/{errors,fw}/src/**/*.test.ts'),
  'body-parser': framework('body-parser'),
  validation: framework('validation'),
  'rate-limit': framework('rate-limit'),
  openapi: framework('openapi'),
  middleware: framework('middleware'),
  client: framework('client'),
  users: {
    mutate: ['services/users/src/{user,users,store}.ts', 'services/users/src/store/!(*.test).ts'],
    tests: ['services/users/src/**/*.test.ts'],
  },
};

function framework(name: string, ...tests: string[]): Part {
  const sources = `framework/${name}/src`;
  return {
    mutate: [`${sources}/**/*.ts`, `!${sources}/**/*.test.ts`, `!${sources}/**/testing/**`],
    tests: [`${sources}/**/*.test.ts`, ...tests],
  };
}

/** @throws {RangeError} if no part has this name */
export function readPart(name = ''): Part {
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (part === undefined) {
    const names = Object.keys(PARTS).join(', ');
    throw new RangeError(`Cannot test the mutants of "${name}": expected one of ${names}`);
  }
  return part;
}
