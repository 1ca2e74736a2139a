import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { runWrk } from './http/wrk.ts';
import { readCount, readOptions, runAsProgram } from './options.ts';
import {
  cpuMicrosOf,
  LOAD_CORE,
  MEASURED_CORE,
  nextMessage,
  PINNING,
  pinThisProcess,
  startProcess,
  stopProcess,
} from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';
import { VARIANTS, type Variant } from './telemetry/variants.ts';

const HELP = `Measures what metrics, log lines and tracing cost a service (catalog, GET v1 with 20 items).

  --rounds 9         measured rounds
  --seconds 2        seconds that one variant is measured per round
  --connections 64   open connections of wrk
  --out DIR          folder of the JSON file with every sample (default .local/bench)
`;

const SERVER = fileURLToPath(new URL('telemetry/server.ts', import.meta.url));
const NAMES = Object.keys(VARIANTS) as Variant[];
const PATHS = Array.from({ length: 60 }, (_, index) => `/api/v1/catalog?page=${index + 1}`);

interface Server {
  readonly variant: Variant;
  readonly child: ChildProcess;
  readonly port: number;
}

interface Sample {
  readonly variant: Variant;
  readonly round: number;
  readonly cpuMicrosPerRequest: number;
}

interface Settings {
  readonly rounds: number;
  readonly seconds: number;
  readonly connections: number;
}

/** Measures the catalog service with each variant of telemetry, and prints a report. */
export async function runTelemetry(args: readonly string[]): Promise<void> {
  const values = readOptions(args, HELP, {
    rounds: { type: 'string', default: '9' },
    seconds: { type: 'string', default: '2' },
    connections: { type: 'string', default: '64' },
  });
  if (!values) return;
  const settings: Settings = {
    rounds: readCount('rounds', values.rounds),
    seconds: readCount('seconds', values.seconds),
    connections: readCount('connections', values.connections),
  };
  ensureTool('wrk');
  const samples = await measureAll(settings);
  const environment = describeEnvironment(['pino', 'prom-client', '@opentelemetry/sdk-trace']);
  publish(
    {
      name: 'telemetry',
      markdown: [
        environmentLines(environment),
        `Medians of ${settings.rounds} rounds of ${settings.seconds} s; wrk with ` +
          `${settings.connections} connections; ${PINNING}. The difference is the median of the ` +
          'differences within a round: less is better.',
        toTable(samples),
      ].join('\n\n'),
      data: { environment, settings, samples },
    },
    { isComplete: true, out: values.out },
  );
}

async function measureAll(settings: Settings): Promise<readonly Sample[]> {
  const directory = mkdtempSync(join(tmpdir(), 'fw-bench-'));
  const collector = await startCollector();
  const servers: Server[] = [];
  try {
    for (const variant of NAMES) {
      const command = [process.execPath, SERVER, variant, join(directory, 'catalog.db'), collector];
      const child = startProcess(command, { core: MEASURED_CORE, channel: true });
      const { port } = (await nextMessage(child)) as { port: number };
      servers.push({ variant, child, port });
    }
    return await measureRounds(servers, settings);
  } finally {
    for (const { child } of servers) await stopProcess(child);
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Starts a receiver of spans that discards them, on the core of the load. Returns its address. */
async function startCollector(): Promise<string> {
  pinThisProcess(LOAD_CORE);
  const collector = createServer((req, res) => {
    req.resume().on('end', () => res.end('{}'));
  });
  collector.listen(0, '127.0.0.1').unref();
  await once(collector, 'listening');
  return `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
}

async function measureRounds(
  servers: readonly Server[],
  { rounds, seconds, connections }: Settings,
): Promise<readonly Sample[]> {
  const exchanges = PATHS.map(
    (path) => ({ method: 'GET', path, status: 200, expected: undefined }) as const,
  );
  const samples: Sample[] = [];
  // Round 0 is the warm-up.
  for (let round = 0; round <= rounds; round++) {
    for (const { variant, child, port } of rotate(servers, round)) {
      const before = await cpuMicrosOf(child);
      const { requests } = await runWrk({ port, exchanges, connections, seconds });
      const cpuMicrosPerRequest = ((await cpuMicrosOf(child)) - before) / requests;
      process.stderr.write(
        `telemetry, round ${round} of ${rounds}: ${variant} ${cpuMicrosPerRequest.toFixed(1)} µs\n`,
      );
      if (round > 0) samples.push({ variant, round, cpuMicrosPerRequest });
    }
  }
  return samples;
}

function toTable(samples: readonly Sample[]): string {
  const bareOf = new Map(
    samples.flatMap(({ variant, round, cpuMicrosPerRequest }) =>
      variant === 'none' ? [[round, cpuMicrosPerRequest]] : [],
    ),
  );
  const rows = NAMES.map((name) => {
    const own = samples.filter(({ variant }) => variant === name);
    const ofRounds = (read: (micros: number, bare: number) => number) =>
      median(own.map((each) => read(each.cpuMicrosPerRequest, bareOf.get(each.round) ?? NaN)));
    return [
      VARIANTS[name],
      ofRounds((micros) => micros).toFixed(1),
      ofRounds((micros, bare) => micros - bare).toFixed(2),
      `${(100 * ofRounds((micros, bare) => micros / bare - 1)).toFixed(1)} %`,
    ];
  });
  return markdownTable(['', 'CPU µs per request', 'difference', 'in percent'], rows);
}

if (import.meta.main) await runAsProgram(runTelemetry);
