import path from 'node:path';

import { type GoToolName, installationPage, isObtainable } from '../tools.ts';

/** The test files that run a program which only Go builds, as glob patterns by program. */
export const FILES_BY_TOOL: Readonly<Record<GoToolName, readonly string[]>> = {
  helm: [
    'deploy/charts/**/*.test.ts',
    'deploy/ways-in/values.test.ts',
    'deploy/local/cluster/platform-values.test.ts',
  ],
  helm3: ['deploy/charts/tests/helm3.test.ts'],
  k6: [
    'deploy/k6/run.test.ts',
    'deploy/local/processes/without-version.test.ts',
    'deploy/charts/monitoring/prometheus.test.ts',
  ],
  'toxiproxy-server': ['tests/chaos/faults/toxiproxy.test.ts'],
  h2spec: ['deploy/charts/tests/h2spec.test.ts'],
  'kube-score': ['deploy/charts/tests/{lint,platform}.test.ts'],
};

/** The programs that this machine neither has nor can build. In CI none is missing: its tests fail. */
function missingTools(): GoToolName[] {
  if (process.env.CI) return [];
  return (Object.keys(FILES_BY_TOOL) as GoToolName[]).filter((name) => !isObtainable(name));
}

/** The test files that cannot run on this machine, as glob patterns. */
export function skippedFiles(): string[] {
  return missingTools().flatMap((name) => FILES_BY_TOOL[name]);
}

/** The patterns that no other one matches, each once. */
function withoutCovered(patterns: readonly string[]): string[] {
  return [...new Set(patterns)].filter(
    (one) => !patterns.some((other) => other !== one && path.matchesGlob(one, other)),
  );
}

/** One line that says which test files were skipped and how to install what they need. */
export function skippedLine(): string | undefined {
  const missing = missingTools();
  if (missing.length === 0) return undefined;
  const files = withoutCovered(skippedFiles()).join(', ');
  const pages = missing.map((name) => `${name} (${installationPage(name)})`).join(', ');
  return `Skipped ${files}: install Go 1.26, which builds the missing programs, or install ${pages}`;
}

/** Global setup of Vitest: prints the line after the summary. */
export default function setup(): () => void {
  return () => {
    const line = skippedLine();
    if (line) console.warn(line);
  };
}
