import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { CHARTS, packDependencies } from '../../charts/dependencies.ts';

/** Copies the charts and packs their dependencies, so that later changes do not affect them. Returns the folder. */
export function packCharts(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-charts-'));
  // Charts contain links to other files of the checkout.
  for (const { name } of fs.readdirSync(CHARTS, { withFileTypes: true }).filter(isChart)) {
    fs.cpSync(path.join(CHARTS, name), path.join(folder, name), {
      recursive: true,
      dereference: true,
      filter: (file) => path.relative(CHARTS, file) !== path.join(name, 'charts'),
    });
  }
  packDependencies(folder);
  return folder;
}

function isChart({ name }: { readonly name: string }): boolean {
  return fs.existsSync(path.join(CHARTS, name, 'Chart.yaml'));
}
