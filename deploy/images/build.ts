import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { SERVICE_NAMES } from '../../services/services.ts';
import { type Bases, chooseBases, requireBases } from './bases.ts';
import { docker, missingEngine } from './docker.ts';

const root = path.resolve(import.meta.dirname, '../..');

export interface BuildOptions {
  /** Name and tag of the image, such as `fw-users:dev`. */
  readonly name: string;
  readonly bases: Bases;
  /** The folder of the sources. Default: this checkout. */
  readonly context?: string;
  /** Further options of `docker build`, such as `--no-cache`. */
  readonly flags?: readonly string[];
}

/**
 * Builds the image of a service and returns the output of the builder.
 *
 * @throws {Error} with the end of that output, if the build fails
 */
export function buildImage(
  service: string,
  { name, bases, context = root, flags = [] }: BuildOptions,
): Promise<string> {
  const buildArgs = Object.entries({ SERVICE: service, ...bases }).map(
    ([key, value]) => `--build-arg=${key}=${value}`,
  );
  // An unknown value gets no label: an empty label would be wrong.
  const labels = Object.entries(originOf(service)).flatMap(([key, value]) =>
    value ? [`--label=org.opencontainers.image.${key}=${value}`] : [],
  );
  const options = ['--force-rm', ...flags, ...buildArgs, ...labels, '--tag', name];
  return docker('build', ...options, context);
}

function originOf(service: string): Record<string, string | undefined> {
  const manifest = (...folders: readonly string[]) =>
    JSON.parse(fs.readFileSync(path.join(root, ...folders, 'package.json'), 'utf8'));
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return {
    version: manifest('services', service).version,
    revision: stdout?.trim(),
    source: process.env.SOURCE || manifest().repository?.url,
  };
}

/** The sizes in bytes of an image and of its top layer, which contains the service. */
export async function sizesOf(name: string): Promise<{ total: number; own: number }> {
  const total = Number(await docker('image', 'inspect', '--format', '{{.Size}}', name));
  const history = await docker('history', '--human=false', '--format', '{{.Size}}', name);
  const layers = history.split('\n').map(Number);
  return { total, own: layers.find((bytes) => bytes > 0) ?? 0 };
}

/** Builds the image of each service and prints its size. */
async function buildAll(): Promise<void> {
  const missing = missingEngine();
  if (missing) throw new Error(missing);
  const { SOURCE, TAG } = process.env;
  const tag = TAG || 'dev';
  if (!/^\w[\w.-]{0,127}$/.test(tag)) {
    throw new Error(
      `TAG is "${tag}": expected a version such as 1.2.0, of letters, digits, "_", "." and "-"`,
    );
  }
  if (SOURCE && !URL.canParse(SOURCE)) {
    throw new Error(`SOURCE is "${SOURCE}": expected an address such as https://example.org/fw`);
  }
  const bases = chooseBases();
  console.log(`Building in ${bases.BUILD_IMAGE}, to run on ${bases.RUN_IMAGE}`);
  await requireBases(bases);
  for (const service of SERVICE_NAMES) {
    const name = `fw-${service}:${tag}`;
    const start = performance.now();
    // Printed first: the first build takes minutes.
    process.stdout.write(`${name.padEnd(20)} `);
    await buildImage(service, { name, bases }).catch((error: unknown) => {
      console.log('failed');
      throw error;
    });
    const { total, own } = await sizesOf(name);
    const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(`${megabytes(total)}, service layer ${megabytes(own)}, built in ${seconds} s`);
  }
}

if (import.meta.main) {
  await buildAll().catch((error: unknown) => {
    console.error(`Cannot build the images: ${(error as Error).message}`);
    process.exitCode = 1;
  });
}
