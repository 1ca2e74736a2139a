import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { docker, hasImage, missingEngine } from './docker.ts';

const root = path.resolve(import.meta.dirname, '../..');

export interface BuildOptions {
  /** The name to be given, `fw-users:dev`. */
  readonly name: string;
  /** What to build in, and what to run on. Default: what the Dockerfile says. */
  readonly bases?: Bases;
  /** The sources. Default: this checkout. */
  readonly context?: string;
  /** Builds every step anew. */
  readonly isFresh?: boolean;
}

/** The images that ours stand on: build arguments of the Dockerfile. */
export interface Bases {
  readonly BUILD_IMAGE?: string | undefined;
  readonly RUN_IMAGE?: string | undefined;
}

/** The services that have an image: the folders below `services`. */
export function services(): string[] {
  return fs.readdirSync(path.join(root, 'services')).sort();
}

/** Stand-ins that a machine without a registry has. */
const LOCAL_BASES = { BUILD_IMAGE: 'local/node:26-slim', RUN_IMAGE: 'local/nodejs26:nonroot' };

/** The environment's choice; else the stand-ins, where the engine has them; else the Dockerfile's. */
export function chooseBases(): Bases {
  const { BUILD_IMAGE, RUN_IMAGE } = process.env;
  if (BUILD_IMAGE || RUN_IMAGE) return { BUILD_IMAGE, RUN_IMAGE };
  return Object.values(LOCAL_BASES).every(hasImage) ? LOCAL_BASES : {};
}

/**
 * Builds the image of a service.
 *
 * @returns the images that the classic builder made on the way and keeps as its cache
 * @throws {Error} with what the builder wrote, if it fails
 */
export async function buildImage(service: string, options: BuildOptions): Promise<string[]> {
  const { name, bases = {}, context = root, isFresh = false } = options;
  const buildArgs = Object.entries({ SERVICE: service, ...originOf(service), ...bases })
    .filter(([, value]) => value)
    .flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  const fresh = isFresh ? ['--no-cache'] : [];
  const output = await docker(
    'build',
    '--force-rm',
    ...fresh,
    ...buildArgs,
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

/** What the labels say about where the image comes from; what is not known is left empty. */
function originOf(service: string): Record<string, string> {
  const manifest = path.join(root, 'services', service, 'package.json');
  const { version } = JSON.parse(fs.readFileSync(manifest, 'utf8'));
  const { repository } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  return {
    VERSION: version,
    REVISION: git('rev-parse', 'HEAD'),
    SOURCE: repository?.url ?? git('config', '--get', 'remote.origin.url'),
  };
}

function git(...args: readonly string[]): string {
  return spawnSync('git', args, { cwd: root, encoding: 'utf8' }).stdout?.trim() ?? '';
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

async function buildAll(tag: string): Promise<void> {
  const missing = missingEngine();
  if (missing) throw new Error(missing);
  const bases = chooseBases();
  if (bases.RUN_IMAGE)
    console.log(`Building in ${bases.BUILD_IMAGE}, to run on ${bases.RUN_IMAGE}`);
  for (const service of services()) {
    const name = `fw-${service}:${tag}`;
    const start = performance.now();
    await buildImage(service, { name, bases });
    const { total, own } = await sizesOf(name);
    const seconds = ((performance.now() - start) / 1000).toFixed(0);
    console.log(
      `${name.padEnd(20)} ${inMegabytes(total)} MB, ${inMegabytes(own)} of it its own, in ${seconds} s`,
    );
  }
}

/** Whether a base image cannot be had, as Docker's builders say it. */
function isUnreachable(message: string): boolean {
  return /dial tcp|pull access denied|manifest unknown|failed to resolve/.test(message);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { tag: { type: 'string', default: 'dev' } } });
  await buildAll(values.tag).catch((error: unknown) => {
    const { message } = error as Error;
    console.error(`Cannot build the images: ${message}`);
    if (isUnreachable(message)) {
      console.error('Name images to build in and to run on: make images BUILD_IMAGE=… RUN_IMAGE=…');
    }
    process.exitCode = 1;
  });
}
