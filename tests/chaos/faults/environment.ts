import fs from 'node:fs';
import path from 'node:path';

import { ensureTool } from '../../../tools/programs.ts';

/** What the processes of the system see of the machine. */
export interface Environment {
  readonly env: Readonly<Record<string, string>>;
  /** Sets the names that cannot be looked up. */
  setFailingNames(names: readonly string[]): void;
  /** Moves the clock by `seconds`, with `hasClock`. */
  setClock(seconds: number): void;
}

/**
 * Creates the environment in which the names `*.test` are this machine. With `hasClock`, the clock can be
 * moved; its state is in `folder`.
 */
export function createEnvironment(folder: string, { hasClock = false }): Environment {
  const namesFile = path.join(folder, 'failing-names');
  const clockFile = path.join(folder, 'clock');
  const setFailingNames = (names: readonly string[]) =>
    fs.writeFileSync(namesFile, names.join('\n'));
  const setClock = (seconds: number) =>
    fs.writeFileSync(clockFile, `${seconds < 0 ? '' : '+'}${seconds}`);
  setFailingNames([]);
  setClock(0);
  // As an address: NODE_OPTIONS are separated by spaces.
  const preload = new URL('failing-names.ts', import.meta.url);
  const env = {
    FAILING_NAMES: namesFile,
    NODE_OPTIONS: `--import=${preload.href}`,
    // A change of the real clock does not affect the monotonic one either.
    ...(hasClock && {
      LD_PRELOAD: ensureTool('faketime'),
      FAKETIME_TIMESTAMP_FILE: clockFile,
      FAKETIME_NO_CACHE: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
    }),
  };
  return { env, setFailingNames, setClock };
}
