import fs from 'node:fs';
import path from 'node:path';

import type { Metafile } from 'esbuild';

export interface BillOptions {
  /** The folder that the paths of the metafile are relative to. */
  readonly root: string;
  readonly service: string;
  readonly metafile: Metafile;
}

/**
 * The software bill of materials of a service's bundle: the packages whose code is in it, with the
 * texts of their licences (CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json).
 *
 * @throws {Error} that names the package, if its package.json has no version or licence
 */
export function billOfMaterials({ root, service, metafile }: BillOptions) {
  const application = `services/${service}`;
  const component = describe(root, application, 'application');
  const components = new Map([[application, component]]);
  for (const folder of bundledFolders(metafile)) {
    if (folder !== application) components.set(folder, describe(root, folder, 'library'));
  }
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component },
    components: [...components.values()].filter((one) => one !== component).sort(byReference),
    dependencies: [...components]
      .map(([folder, one]) => ({
        'bom-ref': one['bom-ref'],
        dependsOn: importedFolders(metafile, folder)
          .flatMap((imported) => components.get(imported)?.['bom-ref'] ?? [])
          .sort(),
      }))
      .sort(byReference)
      .map(({ 'bom-ref': ref, dependsOn }) => ({ ref, dependsOn })),
  };
}

function byReference(a: { 'bom-ref': string }, b: { 'bom-ref': string }): number {
  return a['bom-ref'] < b['bom-ref'] ? -1 : 1;
}

/** The folder of the package that contains `input`; undefined for modules of Node. */
function folderOf(input: string): string | undefined {
  return /^(?:.*\bnode_modules\/(?:@[^/]+\/)?[^/]+|(?:framework|services)\/[^/]+)(?=\/)/.exec(
    input,
  )?.[0];
}

/** The folders with code in the scripts; esbuild omits unused code. */
function bundledFolders({ outputs }: Metafile): Set<string> {
  const scripts = Object.entries(outputs).filter(([file]) => file.endsWith('.js'));
  const inputs = scripts.flatMap(([, { inputs }]) => Object.entries(inputs));
  return new Set(
    inputs.flatMap(([input, { bytesInOutput }]) =>
      bytesInOutput > 0 ? (folderOf(input) ?? []) : [],
    ),
  );
}

function importedFolders({ inputs }: Metafile, folder: string): string[] {
  const imports = Object.entries(inputs)
    .filter(([input]) => folderOf(input) === folder)
    .flatMap(([, { imports }]) => imports.map((one) => folderOf(one.path) ?? folder));
  return [...new Set(imports)].filter((imported) => imported !== folder);
}

function describe(root: string, folder: string, type: 'application' | 'library') {
  const file = path.join(root, folder, 'package.json');
  const { name, version, license, description } = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (typeof version !== 'string' || typeof license !== 'string') {
    throw new Error(`Cannot list ${folder}: its package.json must contain a version and a license`);
  }
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    ...(description && { description }),
    licenses: [licenseOf(license, { root, folder })],
    purl,
  };
}

/** A single licence by its SPDX id and text; several as an SPDX expression. */
function licenseOf(license: string, { root, folder }: { root: string; folder: string }): object {
  if (/[\s()]/.test(license)) return { expression: license };
  // Packages of this repository share the licence in its root.
  const where = folder.includes('node_modules') ? path.join(root, folder) : root;
  const file = fs.readdirSync(where).find((name) => /^licen[cs]e\b/i.test(name));
  const content = file && fs.readFileSync(path.join(where, file), 'utf8');
  return { license: { id: license, ...(content && { text: { content } }) } };
}
