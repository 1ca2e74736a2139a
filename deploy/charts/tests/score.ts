import { spawnSync } from 'node:child_process';

import { ensureTool } from '../../../tools/programs.ts';

/** Checks of kube-score that the charts do not meet, with the reason. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'container-image-pull-policy':
    'A version is always the same image, so nodes need not contact the registry again.',
  'container-security-context-user-group-id':
    'The image sets the user. Clusters that assign user ids reject pods with another one.',
  'deployment-has-host-podantiaffinity':
    'Topology spread constraints do the same, and allow two pods on the last node.',
};

/** Findings of kube-score as `check: object: reason`, without the exceptions. */
export function findingsOf(text: string): { findings: string[]; excepted: Set<string> } {
  // A CPU limit would slow a pod down even if its node has free CPU time.
  const args = ['score', '--output-format', 'json', '--ignore-container-cpu-limit', '-'];
  const { stdout, stderr } = spawnSync(ensureTool('kube-score'), args, {
    input: text,
    encoding: 'utf8',
  });
  if (!stdout.trimStart().startsWith('[')) throw new Error(`Cannot score: ${stderr}`);
  const objects: ScoredObject[] = JSON.parse(stdout);
  const excepted = new Set<string>();
  const findings: string[] = [];
  for (const { object_name: object, checks } of objects) {
    for (const { check, grade, skipped, comments } of checks) {
      if (skipped || grade >= ALL_OK) continue;
      if (check.id in EXCEPTIONS) excepted.add(check.id);
      else findings.push(`${check.id}: ${object}: ${comments?.[0]?.summary}`);
    }
  }
  return { findings, excepted };
}

/** The grade of a passed check. */
const ALL_OK = 10;

interface ScoredObject {
  readonly object_name: string;
  readonly checks: readonly {
    readonly check: { readonly id: string };
    readonly grade: number;
    readonly skipped: boolean;
    readonly comments: readonly { readonly summary: string }[] | null;
  }[];
}
