import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';

import { plainError } from './plain-error.ts';

const VITEST = path.join(import.meta.dirname, '../node_modules/vitest/vitest.mjs');

/** A system whose tokens are signed with `secret`. */
export interface System {
  readonly base: string;
  readonly secret: string;
}

/**
 * Runs the projects contract and smoke against a system, as `make smoke` does.
 *
 * @throws {Error} with the failed tests
 */
export async function checkSystem({ base, secret }: System, signal?: AbortSignal): Promise<void> {
  const config = path.join(import.meta.dirname, 'vitest.config.ts');
  const args = ['run', '--config', config, '--project', 'contract', '--project', 'smoke'];
  const env = { ...process.env, BASE: base, JWT_SECRET: secret, TOKEN: '', NO_COLOR: '1' };
  try {
    await promisify(execFile)(process.execPath, [VITEST, ...args, '--reporter=default'], {
      env,
      ...(signal && { signal }),
      maxBuffer: 16 * 1024 ** 2,
    });
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const report = stripVTControlCharacters(stdout + stderr).trim();
    throw plainError(`The contract or smoke tests failed at ${base}\n${report}`);
  }
}
