import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A directory for what one run writes, removed when the process ends. */
export function createScratch(): string {
  const directory = mkdtempSync(join(tmpdir(), 'fw-bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
