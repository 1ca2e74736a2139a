import { execFileSync } from 'node:child_process';
import fs from 'node:fs';

import { clusterOf, PLACE } from '../cluster/install.ts';
import { readStat } from '../processes/process.ts';
import { folders, readRunning } from '../state.ts';

/** CPU time and memory of one process group or pod. */
interface Usage {
  readonly cpuSeconds: number;
  /** When they were read, in seconds. */
  readonly at: number;
  readonly memoryBytes: number;
}

export type Usages = ReadonlyMap<string, Usage>;

/** What the processes of the local system use, by name. Linux only: reads /proc (proc(5)). */
export function readProcesses(): Usages {
  const names = new Map(readRunning(folders.run).map(({ pid, name }) => [pid, name]));
  const usages = new Map<string, Usage>();
  const ticks = Number(execFileSync('getconf', ['CLK_TCK']));
  for (const pid of fs.readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const fields = readStat(pid);
    const name = names.get(Number(fields[2])); // of the process group
    if (name === undefined) continue;
    const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readIfPresent(`/proc/${pid}/smaps_rollup`)) ?? [];
    const before = usages.get(name) ?? { cpuSeconds: 0, memoryBytes: 0 };
    usages.set(name, {
      cpuSeconds: before.cpuSeconds + (Number(fields[11]) + Number(fields[12])) / ticks,
      at: performance.now() / 1000,
      memoryBytes: before.memoryBytes + Number(kilobytes ?? 0) * 1024,
    });
  }
  return usages;
}

/** The text of a file of a process, which may have ended. */
function readIfPresent(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The part of the kubelet's summary that is used (kubelet stats v1alpha1). */
interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly cpu?: { readonly time: string; readonly usageCoreNanoSeconds?: number };
    readonly memory?: { readonly workingSetBytes?: number };
  }[];
}

/** What the pods of the platform use, by name. */
export async function readPods(): Promise<Usages> {
  const { kubectl } = clusterOf(folders.run, AbortSignal.timeout(30_000));
  const nodes = await kubectl(['get', 'nodes', '--output=jsonpath={.items[*].metadata.name}']);
  const usages = new Map<string, Usage>();
  for (const node of nodes.split(' ')) {
    const text = await kubectl(['get', '--raw', `/api/v1/nodes/${node}/proxy/stats/summary`]);
    for (const { podRef, cpu, memory } of (JSON.parse(text) as Summary).pods) {
      if (podRef.namespace !== PLACE.namespace || !cpu) continue;
      usages.set(podRef.name, {
        cpuSeconds: (cpu.usageCoreNanoSeconds ?? 0) / 1e9,
        at: Date.parse(cpu.time) / 1000,
        memoryBytes: memory?.workingSetBytes ?? 0,
      });
    }
  }
  return usages;
}

/** The CPU use between two readings, in thousandths of a core, and the memory at the second. */
export function compare(before: Usages, after: Usages): { millicores: number; mebibytes: number } {
  let millicores = 0;
  let bytes = 0;
  for (const [name, { cpuSeconds, at, memoryBytes }] of after) {
    const earlier = before.get(name);
    if (earlier && at > earlier.at) {
      millicores += (1000 * (cpuSeconds - earlier.cpuSeconds)) / (at - earlier.at);
    }
    bytes += memoryBytes;
  }
  return { millicores: Math.round(millicores), mebibytes: Math.round(bytes / 1024 ** 2) };
}
