import { spawnSync } from 'node:child_process';

import { ensureTool } from '../../local/tools.ts';

/** What kube-score asks of objects and these charts do not do, and why. */
export const EXCEPTIONS: Readonly<Record<string, string>> = {
  'container-image-pull-policy':
    'A version stands for one image, so a node that has it need not ask a registry that may be away.',
  'container-security-context-user-group-id':
    'The image names its user. One that the pod named would be refused where the cluster assigns users.',
  'deployment-has-host-podantiaffinity':
    'Topology spread does it over nodes and zones, and does not forbid two pods on the last node.',
};

/** What kube-score finds in a stream of objects: `check: object: reason`, without the exceptions. */
export function complaintsOn(text: string): { complaints: string[]; excepted: Set<string> } {
  // A limit of the processor slows a pod down where there is time left on its node.
  const args = ['score', '--output-format', 'json', '--ignore-container-cpu-limit', '-'];
  const { stdout, stderr } = spawnSync(ensureTool('kube-score'), args, {
    input: text,
    encoding: 'utf8',
  });
  if (!stdout.trimStart().startsWith('[')) throw new Error(`Cannot score: ${stderr}`);
  const objects: ScoredObject[] = JSON.parse(stdout);
  const excepted = new Set<string>();
  const complaints: string[] = [];
  for (const { object_name: object, checks } of objects) {
    for (const { check, grade, skipped, comments } of checks) {
      if (skipped || grade >= ALL_OK) continue;
      if (check.id in EXCEPTIONS) excepted.add(check.id);
      else complaints.push(`${check.id}: ${object}: ${comments?.[0]?.summary}`);
    }
  }
  return { complaints, excepted };
}

/** The grade of a check that has nothing to say. */
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
