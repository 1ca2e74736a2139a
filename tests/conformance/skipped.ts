import { findPython, INSTALL } from './environment.ts';

const FILE = 'tests/conformance/conformance.test.ts';

/** The test files that need Python, if this machine has none. In CI none is left out: they fail. */
export function skippedConformanceFiles(): string[] {
  return process.env.CI || findPython() ? [] : [FILE];
}

/** Global setup of Vitest: prints after the summary what was skipped. */
export default function setup(): () => void {
  return () => {
    const [file] = skippedConformanceFiles();
    if (file) console.warn(`Skipped ${file}, which needs Python 3.11 or later: ${INSTALL}`);
  };
}
