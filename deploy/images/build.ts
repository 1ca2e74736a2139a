import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { SERVICE_NAMES } from '../../services/services.ts';
import { type Bases, bringBases, chooseBases } from './bases.ts';
import { docker, missingEngine } from './docker.ts';

const root = path.resolve(import.meta.dirname, '../..');

export interface BuildOptions {
  /** The name to be given, `fw-users:dev`. */
  readonly name: string;
  readonly bases: Bases;
  /** The sources. Default: this checkout. */
  readonly context?: string;
  /** Builds every step anew. */
  readonly isFresh?: boolean;
}

/** The services that have an image. */
export function services(): string[] {
  return SERVICE_NAMES.toSorted();
}

/**
 * Builds the image of a service.
 *
 * @returns the images that the classic builder made on the way and keeps as its cache
 * @throws {Error} with what the builder wrote, if it fails
 */
export async function buildImage(service: string, options: BuildOptions): Promise<string[]> {
  const { name, bases, context = root, isFresh = false } = options;
  const buildArgs = Object.entries({ SERVICE: service, ...bases }).map(
    ([key, value]) => `--build-arg=${key}=${value}`,
  );
  const labels = Object.entries(originOf(service))
    .filter(([, value]) => value)
    .map(([key, value]) => `--label=org.opencontainers.image.${key}=${value}`);
  const fresh = isFresh ? ['--no-cache'] : [];
  const output = await docker(
    'build',
    '--force-rm',
    ...fresh,
    ...buildArgs,
    ...labels,
    '--tag',
    name,
    context,
  );
  return madeOnTheWay(output.split('\n'));
}

/** What the classic builder says it made: ` ---> 293b6fa475df`, unless it found that or stands on it. */
function madeOnTheWay(lines: readonly string[]): string[] {
  return lines.flatMap((line, index) => {
    const [, id] = /^ ---> ([0-9a-f]{12})$/.exec(line) ?? [];
    const isOld = /: FROM | ---> Using cache$/.test(lines[index - 1] ?? '');
    return id && !isOld ? [id] : [];
  });
}

/** Where an image comes from, as far as it is known: an empty label would say that it is nowhere. */
function originOf(service: string): Record<'version' | 'revision' | 'source', string | undefined> {
  const { version } = readManifest('services', service);
  const { repository } = readManifest();
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' });
  return {
    version,
    revision: stdout?.trim(),
    source: process.env.SOURCE || repository?.url,
  };
}

function readManifest(...folders: readonly string[]) {
  return JSON.parse(fs.readFileSync(path.join(root, ...folders, 'package.json'), 'utf8'));
}

/** The size of an image in bytes, and of the layer on top that is the service's own. */
export async function sizesOf(
  name: string,
): Promise<{ readonly total: number; readonly own: number }> {
  const total = Number(await docker('image', 'inspect', '--format', '{{.Size}}', name));
  const history = await docker('history', '--human=false', '--format', '{{.Size}}', name);
  return {
    total,
    own:
      history
        .split('\n')
        .map(Number)
        .find((bytes) => bytes > 0) ?? 0,
  };
}

const inMegabytes = (bytes: number) => (bytes / 1e6).toFixed(1);

/** Builds the image of each service, and says of each how large it is. */
async function buildAll(): Promise<void> {
  const missing = missingEngine();
  if (missing) throw new Error(missing);
  const { SOURCE } = process.env;
  const tag = process.env.TAG || 'dev';
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
  await bringBases(bases);
  for (const service of services()) {
    const name = `fw-${service}:${tag}`;
    const start = performance.now();
    // The first build takes minutes, and what it is about stands there meanwhile.
    process.stdout.write(`${name.padEnd(20)} `);
    await buildImage(service, { name, bases }).catch((error: unknown) => {
      console.log('failed');
      throw error;
    });
    const { total, own } = await sizesOf(name);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(`${inMegabytes(total)} MB, ${inMegabytes(own)} MB of it its own, in ${seconds} s`);
  }
}

if (import.meta.main) {
  await buildAll().catch((error: unknown) => {
    console.error(`Cannot build the images: ${(error as Error).message}`);
    process.exitCode = 1;
  });
}
