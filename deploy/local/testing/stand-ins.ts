import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { vi } from 'vitest';

/** Programs of a test's own in place of real ones, which write down how they are called. */
export interface StandIns extends Disposable {
  readonly folder: string;
  /** Every call so far: a program and its arguments. */
  calls(): readonly string[];
  /** What a program was given on its standard input when it was last called with `--values -` or alike. */
  input(program: string): string;
}

/**
 * Has the PATH lead to shell scripts alone. Each is the body of a `case "$*" in`, such as
 * `version*) echo 1;;`; a call that no line fits succeeds and prints nothing.
 */
export function standIn(programs: Readonly<Record<string, string>>): StandIns {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'stand-ins-'));
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
