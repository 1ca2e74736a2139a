import { fileURLToPath } from 'node:url';

import { median } from '../deploy/local/testing/statistics.ts';
import { ensureTool } from '../tools/programs.ts';
import { runWrk } from './http/wrk.ts';
import { readSettings } from './options.ts';
import { PINNING, startMeasured } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';
import type { Ready, Turns } from './stalls/server.ts';

const SERVER = fileURLToPath(new URL('stalls/server.ts', import.meta.url));

/** Turns of the warm-up. */
const WARM_UP = 5;

/** Measures the CPU time that the watch for stalls of the event loop needs, and prints a report. */
export async function runStalls(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares a service with and without the watch for stalls of the event loop.',
    names: {},
    counts: {
      seconds: { help: 'duration of the measurement', default: 120 },
      connections: { help: 'open connections of wrk', default: 64 },
    },
  });
  if (!settings) return;
  ensureTool('wrk');
  const { ready, request, stop } = await startMeasured<Ready, Turns>(SERVER);
  const { port, path } = ready;
  await runWrk({ ...settings.counts, url: `http://127.0.0.1:${port}`, requests: [{ path }] });
  const turns = await request();
  await stop();

  const without = turns.without.slice(WARM_UP);
  const watched = turns.with.slice(WARM_UP);
  const added = median(
    without.map((micros, turn) => (watched[turn] ?? Number.NaN) - micros).filter(Number.isFinite),
  );
  const base = median(without);
  const environment = describeEnvironment([]);
  publish(
    {
      name: 'stalls',
      markdown: [
        environmentLines(environment),
        `Medians of ${without.length} turns; ${PINNING}. \`GET /api/v1/tasks/:id\` needs ` +
          `${base.toFixed(1)} µs of CPU time without the watch, and ${added.toFixed(2)} µs more ` +
          `(${((added / base) * 100).toFixed(1)} %) with it.`,
      ].join('\n\n'),
      data: { environment, turns },
    },
    settings,
  );
}
