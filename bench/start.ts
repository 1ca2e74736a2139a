import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { freePort } from '../deploy/local/testing/ports.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { CONTESTANTS } from './http/contestant.ts';
import { accepts } from './listening.ts';
import { readCount, readNames, readOptions, runAsProgram } from './options.ts';
import { MEASURED_CORE, startProcess, stopProcess } from './process.ts';
import { describeEnvironment, type Environment, environmentLines, publish } from './report.ts';
import { bundle, createBundleDirectory, FORMS, type Form } from './start/bundle.ts';

/** Without contestants that only have add-ons. */
const APPLICATIONS = Object.keys(CONTESTANTS).filter((name) =>
  CONTESTANTS[name]?.workloads.includes('hello'),
);

const HELP = `Compares the time from process start to the first response; each application is one bundle.

  --only fw,hono   contestants (${APPLICATIONS.join(', ')})
  --rounds 15      measured starts per contestant
  --out DIR        folder of the JSON file with every sample (default .local/bench)
`;

const START_TIMEOUT_MS = 10_000;

interface Program {
  readonly contestant: string;
  readonly form: Form;
  readonly file: string;
}

interface Result {
  readonly contestant: string;
  readonly form: Form;
  /** Median milliseconds from the start of the process to its first response. */
  readonly milliseconds: number;
}

/** Measures how fast the contestants start and prints a report. */
export async function runStart(args: readonly string[]): Promise<void> {
  const values = readOptions(args, HELP, {
    only: { type: 'string' },
    rounds: { type: 'string', default: '15' },
  });
  if (!values) return;
  const contestants = readNames(values.only, APPLICATIONS);
  const rounds = readCount('rounds', values.rounds);

  const packages = contestants.flatMap((name) => CONTESTANTS[name]?.packages ?? []);
  const environment = describeEnvironment(['esbuild', ...packages]);
  const results = await measure(await bundleAll(contestants), rounds);
  publish(
    {
      name: 'start',
      markdown: toMarkdown(results, environment, rounds),
      data: { environment, rounds, results },
    },
    { isComplete: values.only === undefined, out: values.out },
  );
}

async function bundleAll(contestants: readonly string[]): Promise<readonly Program[]> {
  const directory = createBundleDirectory();
  const programs: Program[] = [];
  for (const contestant of contestants) {
    for (const form of FORMS) {
      programs.push({ contestant, form, file: await bundle(contestant, form, directory) });
    }
  }
  return programs;
}

/** Starts every program once per round. Round 0 is the warm-up of the disk cache. */
async function measure(programs: readonly Program[], rounds: number): Promise<readonly Result[]> {
  const measured = new Map<Program, number[]>(programs.map((program) => [program, []]));
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(`start, ${round === 0 ? 'warm-up' : `round ${round} of ${rounds}`}\n`);
    for (const program of rotate(programs, round)) {
      const milliseconds = await timeToResponse(program);
      if (round > 0) measured.get(program)?.push(milliseconds);
    }
  }
  return [...measured].map(([{ contestant, form }, times]) => ({
    contestant,
    form,
    milliseconds: median(times),
  }));
}

async function timeToResponse({ contestant, form, file }: Program): Promise<number> {
  const port = await freePort();
  const begin = performance.now();
  const child = startProcess([process.execPath, file, String(port)], { core: MEASURED_CORE });
  let errors = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  try {
    while (!(await accepts(port))) {
      if (child.exitCode !== null || performance.now() - begin > START_TIMEOUT_MS) {
        throw new Error(`${contestant} (${form}) does not start: ${errors || 'no error output'}`);
      }
      await sleep(1);
    }
    const body = await sendRequest(port);
    const milliseconds = performance.now() - begin;
    if (body !== '{"hello":"world"}') {
      throw new Error(`${contestant} (${form}) responds with ${body}`);
    }
    return milliseconds;
  } finally {
    await stopProcess(child);
  }
}

async function sendRequest(port: number): Promise<string> {
  const req = request({ port, host: '127.0.0.1', agent: false }).end();
  const [res] = await once(req, 'response');
  return (await res.setEncoding('utf8').toArray()).join('');
}

function toMarkdown(results: readonly Result[], environment: Environment, rounds: number): string {
  const rows = results
    .toSorted((a, b) => a.milliseconds - b.milliseconds)
    .map(({ contestant, form, milliseconds }) => [contestant, form, milliseconds.toFixed()]);
  return [
    environmentLines(environment),
    `Milliseconds from the start of the process to its first response, the application in one minified ` +
      `bundle of either form; medians of ${rounds} starts: less is better.`,
    markdownTable(['', 'form', 'ms'], rows),
  ].join('\n\n');
}

if (import.meta.main) await runAsProgram(runStart);
