import { statSync } from 'node:fs';

import type { ClientConfig } from 'pg';
import { parse } from 'pg-connection-string';

import { ConnectionLostError } from './errors.ts';

/** Thrown if a file in the address of a database (`sslrootcert`, `sslcert`, `sslkey`) cannot be read. */
export class AddressFileError extends ConnectionLostError {}

/**
 * Reads the address of a database, and the certificate files that it names. The driver would read them
 * for every connection, and end the process if one is missing.
 *
 * @throws {AddressFileError} naming the file that cannot be read
 */
export function readAddress(url: string): ClientConfig {
  try {
    return { ...(parse(url) as object) };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const file = 'path' in error ? error.path : findDirectory(url);
    if (file === undefined) throw error;
    throw new AddressFileError(
      `Cannot read the file "${file}" that DATABASE_URL names: ${error.message}`,
      { cause: error },
    );
  }
}

/** The directory that `url` names instead of a file: the error of reading it has no path. */
function findDirectory(url: string): string | undefined {
  const query = Object.fromEntries(new URLSearchParams(url.replace(/^[^?]*/, '')));
  return [query.sslcert, query.sslkey, query.sslrootcert].find(
    (file) => file && statSync(file, { throwIfNoEntry: false })?.isDirectory(),
  );
}
