import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A folder with a file system of its own, which can be filled. */
export interface Disk {
  readonly folder: string;
  /** Whether this process may mount a file system; otherwise the folder is an ordinary one. */
  readonly canFill: boolean;
  /** Leaves no free byte. */
  fill(): void;
  /** Makes the space of `fill` available again. */
  free(): void;
  remove(): void;
}

/** Creates an empty disk in memory (tmpfs), which only root on Linux can mount. */
export function createDisk(): Disk {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'disk-'));
  const canFill = process.platform === 'linux' && process.getuid?.() === 0;
  if (canFill) mount(folder);
  const filler = path.join(folder, 'filler');
  return {
    folder,
    canFill,
    fill: () => writeUntilFull(filler),
    free: () => fs.rmSync(filler, { force: true }),
    remove() {
      // Processes that have just been killed may still use it.
      if (canFill) execFileSync('umount', ['--lazy', folder]);
      fs.rmSync(folder, { recursive: true });
    },
  };
}

/** Readable for the user of PostgreSQL, which does not run as root. */
function mount(folder: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256m,mode=755', 'fw-disk', folder]);
}

function writeUntilFull(file: string): void {
  const descriptor = fs.openSync(file, 'w');
  try {
    for (const size of [1024 ** 2, 4_096, 1]) {
      const bytes = Buffer.alloc(size);
      while (hasWritten(descriptor, bytes));
    }
  } finally {
    fs.closeSync(descriptor);
  }
}

function hasWritten(descriptor: number, bytes: Buffer): boolean {
  try {
    return fs.writeSync(descriptor, bytes) === bytes.length;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
    throw error;
  }
}
