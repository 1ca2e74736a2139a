import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { vi } from 'vitest';

/** Fake programs that record their calls. */
export interface FakePrograms extends Disposable {
  readonly folder: string;
  /** All calls so far: program and arguments. */
  calls(): readonly string[];
  /** The standard input of the last call of `program` with `-` as a file. */
  input(program: string): string;
}

/**
 * Replaces the PATH with a folder of shell scripts. Each value is the body of `case "$*" in`, such as
 * `version*) echo 1;;`; a call without a matching case succeeds without output.
 */
export function fakePrograms(programs: Readonly<Record<string, string>>): FakePrograms {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fake-programs-'));
  const log = path.join(folder, 'calls.log');
  for (const [name, cases] of Object.entries(programs)) {
    const input = path.join(folder, `${name}.input`);
    const script = `#!/bin/sh
echo "${name} $*" >> '${log}'
case "$*" in *" - "*|*" -"|*--filename=-) /bin/cat > '${input}';; esac
case "$*" in
${cases}
esac
`;
    fs.writeFileSync(path.join(folder, name), script, { mode: 0o755 });
  }
  vi.stubEnv('PATH', folder);
  return {
    folder,
    calls: () => (fs.existsSync(log) ? fs.readFileSync(log, 'utf8').trimEnd().split('\n') : []),
    input: (program) => fs.readFileSync(path.join(folder, `${program}.input`), 'utf8'),
    [Symbol.dispose]() {
      vi.unstubAllEnvs();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
