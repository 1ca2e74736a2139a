import fs from 'node:fs';
import path from 'node:path';

import { buildService } from '@fw/service/build';

import { SERVICE_NAMES } from '../../services/services.ts';
import { billOfMaterials } from './sbom.ts';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * Writes the layer that the image of `service` adds to its base into `folder`/app: the bundle, the data
 * of the service and the bill of materials. The same sources result in the same bytes, modes and times.
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
  normalise(folder);
}

function writeJson(file: string, value: unknown): void {
  fs.writeFileSync(file, `${JSON.stringify(value, null, 1)}\n`);
}

/** Sets the mode of files to 644 and of folders to 755, and all times to SOURCE_DATE_EPOCH (default 0). */
function normalise(folder: string): void {
  const seconds = Number(process.env.SOURCE_DATE_EPOCH ?? 0);
  for (const entry of fs.readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    fs.chmodSync(file, entry.isDirectory() ? 0o755 : 0o644);
    fs.utimesSync(file, seconds, seconds);
  }
}

if (import.meta.main) {
  const [service = '', folder] = process.argv.slice(2);
  const names: readonly string[] = SERVICE_NAMES;
  if (!names.includes(service) || folder === undefined) {
    console.error(
      `Cannot assemble the service "${service}": SERVICE must be one of ${names.join(', ')}`,
    );
    process.exit(1);
  }
  await assemble(service, folder);
}
