import fs from 'node:fs';
import path from 'node:path';

import { buildService } from '@fw/service/build';

import { SERVICE_NAMES } from '../../services/services.ts';
import { billOfMaterials } from './sbom.ts';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Writes what the image of `service` adds to its base into `folder`: the bundle, the service's data
 * and the bill of materials, below `app`. The same sources give the same bytes, modes and times.
 */
export async function assemble(service: string, folder: string): Promise<void> {
  const source = path.join(root, 'services', service);
  const app = path.join(folder, 'app');
  const dist = path.join(app, 'dist');
  const metafile = await buildService({
    root,
    entry: path.join(source, 'src/main.ts'),
    outfile: path.join(dist, 'main.js'),
  });
  for (const map of fs.globSync(`${dist}/*.map`)) fs.rmSync(map);

  const data = path.join(source, 'data');
  if (fs.existsSync(data)) fs.cpSync(data, path.join(app, 'data'), { recursive: true });

  const { name, version } = JSON.parse(fs.readFileSync(path.join(source, 'package.json'), 'utf8'));
  writeJson(path.join(app, 'package.json'), { name, version, type: 'module' });
  writeJson(path.join(app, 'sbom.cdx.json'), billOfMaterials({ root, service, metafile }));
  makeUniform(folder);
}

function writeJson(file: string, value: unknown): void {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 1)}\n`);
}

/** Everything readable by all, writable by its owner, and as old as SOURCE_DATE_EPOCH (default 0). */
function makeUniform(folder: string): void {
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? 0);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    fs.chmodSync(file, entry.isDirectory() ? 0o755 : 0o644);
    fs.utimesSync(file, seconds, seconds);
  }
}

if (import.meta.main) {
  const [service = '', folder] = process.argv.slice(2);
  const services: readonly string[] = SERVICE_NAMES.toSorted();
  if (!services.includes(service) || folder === undefined) {
    const known = services.join(', ');
    console.error(`Cannot assemble the service "${service}": SERVICE must be one of ${known}`);
    process.exit(1);
  }
  await assemble(service, folder);
}
