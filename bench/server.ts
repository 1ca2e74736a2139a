/*
 * The process of one contestant: `node [--expose-gc] server.ts <contestant> <routes> <WorkOptions>`. Sends
 * its parent the port and, for each message, the value with this name.
 */
import { subscribe } from 'node:diagnostics_channel';
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate } from 'node:timers/promises';

import { listenOnFreePort, loadContestant, type Route } from './contestant.ts';
import { serveParent, usedCpuMicros, usedMemory } from './measured.ts';
import { createWork } from './work.ts';

const [name = '', routes = '', options = ''] = process.argv.slice(2);
const work = createWork({ eventMs: 60_000, ...JSON.parse(options) });

// Most frameworks log that a client has left.
console.error = () => {};

const server = await (await loadContestant(name)).start(routes.split(',') as Route[], work);
if (globalThis.gc) server.keepAliveTimeout = 0; // idle connections stay open while others are measured
const port = await listenOnFreePort(server);

let connections = 0;
const pauses: number[] = [];
const VALUES = {
  cpu: usedCpuMicros,
  memory: usedMemory,
  running: () => work.running,
  watchConnections,
  /** Those opened since then that are in memory, open or not. */
  async connections() {
    for (let turn = 0; turn < 3; turn++) {
      globalThis.gc?.();
      await setImmediate();
    }
    return connections;
  },
  watchPauses,
  /** Pauses of garbage collection since then in ms, without the time in which other programs had the processor. */
  pauses: () => pauses,
};

/** What the process sends for each message. */
export type Values = {
  readonly [Name in keyof typeof VALUES]: Awaited<ReturnType<(typeof VALUES)[Name]>>;
};

serveParent(port, (message) => VALUES[message as keyof typeof VALUES]());

function watchConnections(): void {
  const collected = new FinalizationRegistry(() => connections--);
  subscribe('net.server.socket', (message) => {
    connections++;
    collected.register((message as { socket: object }).socket, undefined);
  });
}

/**
 * The duration of a pause includes the time in which another program had the processor. A pause takes at
 * most the CPU time between the last sample before it and the first one after it, which are usually 1 ms apart.
 */
function watchPauses(): void {
  const samples: { readonly atMs: number; readonly cpuMs: number }[] = [];
  const ended: PerformanceEntry[] = [];
  setInterval(() => {
    samples.push({ atMs: performance.now(), cpuMs: usedCpuMicros() / 1000 });
    if (samples.length > 100) samples.shift();
    for (const { startTime, duration } of ended.splice(0)) {
      const before = samples.findLast(({ atMs }) => atMs <= startTime)?.cpuMs ?? 0;
      const after = samples.find(({ atMs }) => atMs >= startTime + duration)?.cpuMs ?? 0;
      pauses.push(Math.min(duration, after - before));
    }
  }, 1);
  new PerformanceObserver((list) => ended.push(...list.getEntries())).observe({
    entryTypes: ['gc'],
  });
}
