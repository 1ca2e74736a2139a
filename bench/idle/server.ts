/*
 * The server of one contestant: `node [--expose-gc] server.ts <name>`. For each message from its parent it
 * sends the memory that it uses and, without `--expose-gc`, the pauses of garbage collection since its start.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { PerformanceObserver } from 'node:perf_hooks';

import { serveParent, usedMemory } from '../measured.ts';
import { CONTESTANTS } from './contestants.ts';

/** What a server reports about itself. */
export interface Usage extends ReturnType<typeof usedMemory> {
  /** Pauses of garbage collection in ms, without the time in which other programs had the processor. */
  readonly pauses: readonly number[];
}

const start = CONTESTANTS[process.argv[2] ?? ''];
if (!start) throw new Error(`Usage: server.ts ${Object.keys(CONTESTANTS).join('|')}`);

const pauses: number[] = [];
if (!globalThis.gc) watchPauses();

const server = await start();
server.keepAliveTimeout = 0; // idle connections stay open while others are measured
if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
serveParent((server.address() as AddressInfo).port, (): Usage => ({ ...usedMemory(), pauses }));

/**
 * The duration of a pause includes the time in which another program had the processor. A pause takes at
 * most the CPU time between the last sample before it and the first one after it, which are usually 1 ms apart.
 */
function watchPauses(): void {
  const samples: { readonly atMs: number; readonly cpuMs: number }[] = [];
  const ended: PerformanceEntry[] = [];
  setInterval(() => {
    const { user, system } = process.cpuUsage();
    samples.push({ atMs: performance.now(), cpuMs: (user + system) / 1000 });
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
