import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { ensureTool } from '../local/tools.ts';

/** The folder of the charts. */
export const CHARTS = import.meta.dirname;

/** The charts that need others, each after those that it needs. */
const DEPENDENTS = ['users', 'catalog', 'reports', 'platform'];

/** Helm 4, which the charts are for, and Helm 3, which many still have. */
export type HelmName = 'helm' | 'helm3';

/**
 * Packs, below `folder`, what every chart needs into the chart itself, where Helm looks for it.
 * No network is used: all of it lies beside each other.
 *
 * @throws {Error} with what Helm says
 */
export function packDependencies(folder: string, tool: HelmName = 'helm'): void {
  const helm = ensureTool(tool);
  for (const chart of DEPENDENTS.map((name) => path.join(folder, name))) {
    if (!fs.existsSync(path.join(chart, 'Chart.yaml'))) continue;
    try {
      execFileSync(helm, ['dependency', 'update', '--skip-refresh', chart], {
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
      });
    } catch (error) {
      const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
      throw new Error(`Cannot pack what ${chart} needs: ${stderr.trim()}`, { cause: error });
    }
    // A lock pins what a network may change; these are of the same commit.
    fs.rmSync(path.join(chart, 'Chart.lock'), { force: true });
  }
  copyEdge(path.join(folder, 'platform/files/edge'));
}

/**
 * Gives the edge of the platform what the local one has: Helm reads no file outside of a chart, and
 * remarks on every link that leads there.
 */
function copyEdge(target: string): void {
  const source = path.join(CHARTS, '../nginx');
  fs.rmSync(target, { recursive: true, force: true });
  for (const name of ['nginx.conf', 'page']) {
    fs.cpSync(path.join(source, name), path.join(target, name), { recursive: true });
  }
}

if (import.meta.main) {
  try {
    packDependencies(CHARTS);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}
