import fs from 'node:fs';
import path from 'node:path';

import type { Metafile } from 'esbuild';

/** A package of which the bundle holds code, as CycloneDX 1.6 describes it. */
export interface Component {
  readonly type: 'application' | 'library';
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly licenses: readonly LicenseChoice[];
  readonly purl: string;
}

type LicenseChoice =
  | { readonly license: { readonly id: string; readonly text?: { readonly content: string } } }
  | { readonly expression: string };

/** A software bill of materials: https://cyclonedx.org/docs/1.6/json */
export interface BillOfMaterials {
  readonly bomFormat: 'CycloneDX';
  readonly specVersion: '1.6';
  readonly version: 1;
  readonly metadata: { readonly component: Component };
  readonly components: readonly Component[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

export interface BillOptions {
  /** What the metafile's paths are relative to. */
  readonly root: string;
  /** The folder below `services`. */
  readonly service: string;
  readonly metafile: Metafile;
}

/**
 * Lists the packages of which a service's bundle holds code, not those that are installed, with the
 * texts of their licences, which ask to go wherever the code goes.
 *
 * @throws {Error} naming the package, if it does not say its version and its licence
 */
export function billOfMaterials({ root, service, metafile }: BillOptions): BillOfMaterials {
  const application = `services/${service}`;
  const folders = bundledFolders(metafile);
  const components = new Map(
    [...folders.add(application)].map((folder) => [
      folder,
      describe(root, folder, folder === application ? 'application' : 'library'),
    ]),
  );
  const component = components.get(application)!;
  const byRef = (one: Component, other: Component) => (one['bom-ref'] < other['bom-ref'] ? -1 : 1);
  return {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component },
    components: [...components.values()].filter((one) => one !== component).sort(byRef),
    dependencies: [...components]
      .map(([folder, { 'bom-ref': ref }]) => ({
        ref,
        dependsOn: importedFolders(metafile, folder)
          .flatMap((imported) => components.get(imported)?.['bom-ref'] ?? [])
          .sort(),
      }))
      .sort((one, other) => (one.ref < other.ref ? -1 : 1)),
  };
}

/** The package's folder that `input` belongs to; none for what is no file, such as Node's modules. */
function folderOf(input: string): string | undefined {
  return /^(?:.*\bnode_modules\/(?:@[^/]+\/)?[^/]+|(?:framework|services)\/[^/]+)(?=\/)/.exec(
    input,
  )?.[0];
}

/** The folders of which at least a byte is in a script: what was shaken out is not in the bundle. */
function bundledFolders({ outputs }: Metafile): Set<string> {
  const inputs = Object.entries(outputs)
    .filter(([file]) => file.endsWith('.js'))
    .flatMap(([, { inputs }]) => Object.entries(inputs))
    .filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  return new Set(inputs.flatMap(([input]) => folderOf(input) ?? []));
}

function importedFolders({ inputs }: Metafile, folder: string): string[] {
  const imports = Object.entries(inputs)
    .filter(([input]) => folderOf(input) === folder)
    .flatMap(([, { imports }]) =>
      imports.map(({ path: imported }) => folderOf(imported) ?? folder),
    );
  return [...new Set(imports)].filter((imported) => imported !== folder);
}

function describe(root: string, folder: string, type: Component['type']): Component {
  const file = path.join(root, folder, 'package.json');
  const { name, version, license, description } = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (typeof version !== 'string' || typeof license !== 'string') {
    throw new Error(`Cannot list ${folder}: its package.json must name a version and a license`);
  }
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`;
  return {
    type,
    'bom-ref': purl,
    name,
    version,
    ...(description && { description }),
    licenses: [licenseChoice(license, licenseText(root, folder))],
    purl,
  };
}

/** One licence by its SPDX id, several as the expression that combines them. */
function licenseChoice(license: string, content: string | undefined): LicenseChoice {
  if (/[\s()]/.test(license)) return { expression: license };
  return { license: { id: license, ...(content && { text: { content } }) } };
}

/** The licence beside the package's code; ours stands once, at the root. */
function licenseText(root: string, folder: string): string | undefined {
  const isOurs = !folder.includes('node_modules');
  const where = path.join(root, isOurs ? '.' : folder);
  const name = fs.readdirSync(where).find((file) => /^licen[cs]e\b/i.test(file));
  return name && fs.readFileSync(path.join(where, name), 'utf8');
}
