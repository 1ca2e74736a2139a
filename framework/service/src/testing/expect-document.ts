import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import { request } from '@fw/core/testing';
import type { OpenApiDocument } from '@fw/openapi';
import type { Application } from 'fw';

/** A committed document of one version. */
export interface ExpectedDocument {
  /** The version of the API: `v1` selects the paths under `/api/v1/`. */
  readonly version: string;
  /** The JSON file. */
  readonly file: string;
}

/**
 * Expects that `file` contains exactly the part of the document at `/openapi.json` that describes
 * `version`. With `UPDATE=1` in the environment, writes it instead: `make documents`.
 *
 * @throws {Error} if the file is missing or stale, or if a path of the document belongs to no version
 */
export async function expectDocument(
  app: Application,
  { version, file }: ExpectedDocument,
): Promise<void> {
  const served = (await (await request(app, '/openapi.json')).json()) as OpenApiDocument;
  const text = `${JSON.stringify(selectVersion(served, version), null, 2)}\n`;
  if (process.env.UPDATE) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  } else assert.equal(readText(file), text, `${file} is stale: run make documents`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new Error(`Cannot read ${file}: run make documents`, { cause });
  }
}

/** The document of one version: its paths, and the components that they use, sorted by name. */
function selectVersion(document: OpenApiDocument, version: string): OpenApiDocument {
  const unversioned = Object.keys(document.paths).find((path) => !/^\/api\/v\d+\//.test(path));
  if (unversioned !== undefined) {
    throw new Error(`Cannot select a version of ${unversioned}: expected a path such as /api/v1/…`);
  }
  const paths = Object.fromEntries(
    Object.entries(document.paths).filter(([path]) => path.startsWith(`/api/${version}/`)),
  );
  const used = usedComponents(document, paths);
  const components = Object.entries(document.components).map(([kind, parts]) => {
    const kept = Object.entries(parts).filter(
      ([name]) => kind === 'securitySchemes' || used.has(`#/components/${kind}/${name}`),
    );
    return [kind, Object.fromEntries(kept.sort(([a], [b]) => (a < b ? -1 : 1)))] as const;
  });
  return {
    ...document,
    info: { ...document.info, version: `${version.slice(1)}.0.0` },
    paths,
    components: Object.fromEntries(components.filter(([, parts]) => Object.keys(parts).length > 0)),
  };
}

/** The references to components in `part`, also those in other components. */
function usedComponents({ components }: OpenApiDocument, part: unknown): ReadonlySet<string> {
  const used = new Set<string>();
  const pending = [part];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    for (const [, ref = ''] of JSON.stringify(next).matchAll(/"\$ref":"([^"]+)"/g)) {
      const [, , kind = '', name = ''] = ref.split('/');
      if (!used.has(ref)) pending.push(components[kind]?.[name]);
      used.add(ref);
    }
  }
  return used;
}
