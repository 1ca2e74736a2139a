import { createWriteStream, openAsBlob } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { Context } from '@fw/core';
import { onSent } from '@fw/core';

export interface FileDescription {
  /** The name that the client sent. */
  readonly name: string;
  readonly type: string;
}

/** The files of one request. */
export interface TemporaryFiles {
  /**
   * Writes `stream` to a file. Resolves with `undefined` for an input without a selected file, which
   * browsers send as an empty file without a name.
   */
  save(stream: Readable, description: FileDescription): Promise<File | undefined>;
}

/**
 * Creates a folder in `parent` when the first file is saved, which only this user can read. It is deleted
 * when the response was sent.
 */
export function createTemporaryFiles(ctx: Context, parent: string): TemporaryFiles {
  const saving: Promise<unknown>[] = [];
  let created: Promise<string> | undefined;
  onSent(ctx, async () => {
    await Promise.allSettled(saving);
    if (created)
      await created.then(
        (folder) => remove(ctx, folder),
        () => {},
      );
  });
  const save = async (stream: Readable, file: string, { name, type }: FileDescription) => {
    created ??= mkdtemp(join(parent, 'form-'));
    const path = join(await created, file);
    await pipeline(stream, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
    const content = await openAsBlob(path);
    const baseName = baseNameOf(name);
    if (baseName === '' && content.size === 0) return undefined;
    return new File([content], baseName, { type });
  };
  return {
    save(stream, description) {
      stream.on('error', () => {}); // pipeline() reports an earlier failure too
      const saved = save(stream, String(saving.length), description);
      saving.push(saved);
      return saved;
    },
  };
}

async function remove(ctx: Context, folder: string): Promise<void> {
  try {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    ctx.log.error(`Cannot delete the files of a form in ${folder}`, error);
  }
}

const MAX_NAME_LENGTH = 255;

/** The name without folders and control characters: it is safe as a file name and in a header. */
function baseNameOf(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  const printable = last.replace(/\p{Cc}/gu, '').slice(0, MAX_NAME_LENGTH);
  return /^\.*$/.test(printable) ? '' : printable;
}
