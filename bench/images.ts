import { chooseBases, requireBases } from '../deploy/images/bases.ts';
import { buildImage } from '../deploy/images/build.ts';
import { docker, missingEngine } from '../deploy/images/docker.ts';
import { type ImageMeasurement, measure } from '../deploy/images/testing/measure.ts';
import { SERVICE_NAMES } from '../services/services.ts';
import { readCount, readOptions, runAsProgram } from './options.ts';
import {
  describeEnvironment,
  type Environment,
  environmentLines,
  publish,
  RESULTS,
} from './report.ts';
import { markdownTable } from './table.ts';

const HELP = `The image of each service: from its start until it is ready, and what it needs when idle.

  --tag TAG        images that are there, such as those of "make images"; without it they are built
  --starts 5       starts of each
  --out DIR        where to write images.md and images.json; without it only what is built is written
`;

/** The images of one run, which are gone after it. */
const BUILT = 'bench';

type Results = Readonly<Record<string, ImageMeasurement>>;

/** Measures the images, and reports; one line says why, where they cannot be had. */
export async function runImages(args: readonly string[]): Promise<void> {
  const values = readOptions(args, HELP, {
    tag: { type: 'string' },
    starts: { type: 'string', default: '5' },
  });
  if (!values) return;
  const starts = readCount('starts', values.starts);
  const isBuilt = values.tag === undefined;
  const names = SERVICE_NAMES.map((service) => `fw-${service}:${values.tag ?? BUILT}`);
  try {
    const reason = missingEngine() ?? (isBuilt ? await failureToBuild() : undefined);
    if (reason) {
      process.stdout.write(`\nThe images are not measured: ${reason}\n`);
      return;
    }
    const environment = describeEnvironment([]);
    const results: Record<string, ImageMeasurement> = {};
    for (const name of names) {
      process.stderr.write(`images, ${name}\n`);
      results[name.replace(/:.*/, '')] = await measure(name, { starts });
    }
    publish(
      {
        name: 'images',
        markdown: toMarkdown(results, environment, starts),
        data: { environment, starts, results },
      },
      values.out ?? (isBuilt ? RESULTS : undefined),
    );
  } finally {
    if (isBuilt) await docker('rmi', ...names).catch(() => '');
  }
}

/** Builds the images of the sources as they are; what keeps it from that, if anything does. */
async function failureToBuild(): Promise<string | undefined> {
  const bases = chooseBases();
  try {
    await requireBases(bases);
    for (const service of SERVICE_NAMES) {
      process.stderr.write(`images, building fw-${service}\n`);
      await buildImage(service, { name: `fw-${service}:${BUILT}`, bases });
    }
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

function toMarkdown(results: Results, environment: Environment, starts: number): string {
  const rows = Object.entries(results).map(([name, { startMs, idleMiB }]) => [
    name,
    startMs.toFixed(),
    idleMiB.toFixed(),
  ]);
  return [
    '# Images',
    environmentLines(environment),
    `Milliseconds from the start of the container until the service is ready, the best of ${starts} starts, ` +
      'and what counts against its limit of memory while nobody asks for anything: less is better.',
    markdownTable(['', 'ready, ms', 'idle, MiB'], rows),
  ].join('\n\n');
}

if (import.meta.main) await runAsProgram(runImages);
