import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { SERVICE_NAMES } from '../../services/services.ts';
import { ensureTool } from '../local/tools.ts';

/** The folder of the charts. */
export const CHARTS = import.meta.dirname;

/** The charts with dependencies, each after its own dependencies. */
const DEPENDENTS = [...SERVICE_NAMES, 'platform'];

/** Helm 4, which the charts are for, and Helm 3, which is still in use. */
export type HelmName = 'helm' | 'helm3';

/**
 * Packs the dependencies of every chart in `folder` into the chart, without network access.
 *
 * @throws {Error} with the message of Helm
 */
export function packDependencies(folder: string, tool: HelmName = 'helm'): void {
  const helm = ensureTool(tool);
  for (const chart of DEPENDENTS.map((name) => path.join(folder, name))) {
    try {
      execFileSync(helm, ['dependency', 'update', '--skip-refresh', chart], {
        stdio: ['ignore', 'pipe', 'pipe'],
        encoding: 'utf8',
      });
    } catch (error) {
      const stderr = error instanceof Error && 'stderr' in error ? String(error.stderr) : '';
      throw new Error(`Cannot pack the dependencies of ${chart}: ${stderr.trim()}`, {
        cause: error,
      });
    }
    // A lock file pins versions of remote charts; these charts are in the same commit.
    fs.rmSync(path.join(chart, 'Chart.lock'), { force: true });
  }
  copyEdge(path.join(folder, 'platform/files/edge'));
}

/**
 * Copies the charts to a new temporary folder, so that later changes do not affect them, and packs their
 * dependencies. Returns the folder.
 */
export function packCharts(tool?: HelmName): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-charts-'));
  for (const chart of ['service', ...DEPENDENTS]) {
    fs.cpSync(path.join(CHARTS, chart), path.join(folder, chart), {
      recursive: true,
      filter: (file) => !file.endsWith('.tgz'),
    });
  }
  packDependencies(folder, tool);
  return folder;
}

/** Copies the configuration of nginx into the chart: Helm reads no files outside of a chart. */
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
