/** A part of the repository that `make mutation` changes, and the tests that should notice. */
export interface Part {
  /** Globs of the sources. */
  readonly mutate: readonly string[];
  /** Globs of the tests. Those of the first glob run first: after a test that fails, no other one is needed. */
  readonly tests: readonly string[];
  /** A test that takes this long is skipped: it would run for hundreds of mutants. Default 100. */
  readonly slowMs?: number;
}

/** Tests that use core through its public functions. */
const USERS_OF_CORE = 'framework/{body-parser,core,errors,fw}/src/**/*.test.ts';

const PARTS: Readonly<Record<string, Part>> = {
  core: {
    mutate: ['framework/core/src/!(*.test).ts'],
    tests: ['framework/core/src/*.test.ts', USERS_OF_CORE],
  },
  'core-request': folder('framework/core/src/request', USERS_OF_CORE),
  'core-response': folder('framework/core/src/response', USERS_OF_CORE),
  'core-router': folder('framework/core/src/router', USERS_OF_CORE),
  'core-schema': folder('framework/core/src/schema', USERS_OF_CORE),
  'core-server': folder('framework/core/src/server', USERS_OF_CORE),
  'body-parser': folder('framework/body-parser/src'),
  validation: folder('framework/validation/src'),
  'rate-limit': folder('framework/rate-limit/src'),
  openapi: folder('framework/openapi/src'),
  middleware: folder('framework/middleware/src'),
  client: folder('framework/client/src'),
  controllers: {
    // The other sources search, compile and bundle modules in processes of their own.
    mutate: ['framework/controllers/src/{container,decorators,plugin,record-schema}.ts'],
    tests: ['framework/controllers/src/!(esbuild).test.ts'],
  },
  errors: folder('framework/errors/src'),
  service: {
    mutate: [
      'framework/service/src/!(build|fixtures|testing)/**/*.ts',
      '!framework/service/src/**/*.test.ts',
      // It runs only in processes of its own.
      '!framework/service/src/program/run-service.ts',
    ],
    tests: ['framework/service/src/!(build)/**/*.test.ts'],
    // A test of PostgreSQL has a database of its own.
    slowMs: 500,
  },
  users: {
    mutate: ['services/users/src/user.ts', 'services/users/src/store/!(*.test).ts'],
    tests: ['services/users/src/**/*.test.ts'],
  },
};

function folder(sources: string, ...tests: string[]): Part {
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
