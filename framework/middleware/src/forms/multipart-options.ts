import { accessSync, constants } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import type { Writable } from 'node:stream';

import { aString, aWholeNumber, badOption, readOptions } from '@fw/core/options';

export interface MultipartOptions {
  /** Maximum size of the whole body in bytes. Default 20 MiB. */
  readonly totalLimit?: number;
  /** Maximum size of one file in bytes. Default 10 MiB. */
  readonly fileLimit?: number;
  /** Maximum number of files. Default 10. */
  readonly maxFiles?: number;
  /** The folder for files until the response was sent. Default: the temporary folder of the system. */
  readonly folder?: string;
}

/** The function that busboy exports. Its type is not in the declarations of this package. */
type CreateBusboy = (config: object) => Writable;

export interface MultipartSettings extends Required<MultipartOptions> {
  readonly createBusboy: CreateBusboy;
}

const MAX_LIMIT = Number.MAX_SAFE_INTEGER - 1;

/** @throws {TypeError} if an option is invalid, the folder is not writable, or busboy is missing */
export function readMultipartOptions(options: MultipartOptions): MultipartSettings {
  const {
    totalLimit = 20 * 1024 ** 2,
    fileLimit = 10 * 1024 ** 2,
    maxFiles = 10,
    folder = tmpdir(),
  } = readOptions('forms({ multipart })', options, {
    totalLimit: aWholeNumber(1, MAX_LIMIT),
    fileLimit: aWholeNumber(1, MAX_LIMIT),
    maxFiles: aWholeNumber(0, 1_000),
    folder: aString,
  });
  requireWritable(folder);
  return { totalLimit, fileLimit, maxFiles, folder, createBusboy: loadBusboy() };
}

function requireWritable(folder: string): void {
  try {
    accessSync(`${folder}/.`, constants.W_OK | constants.X_OK);
  } catch {
    const expected = 'a folder in which this process may create files';
    throw badOption('forms({ multipart })', { name: 'folder', value: folder, expected });
  }
}

function loadBusboy(): CreateBusboy {
  try {
    return createRequire(import.meta.url)('busboy');
  } catch (cause) {
    throw new TypeError('Cannot parse multipart forms: install the package "busboy"', { cause });
  }
}
