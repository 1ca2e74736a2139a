import http from 'node:http';

import { type HttpRequest, send } from './send.ts';

export interface ClosedLoopOptions {
  readonly port: number;
  /** Returns the next request. */
  readonly next: () => HttpRequest;
  readonly seconds: number;
}

/** What a server served. */
export interface Capacity {
  /** Responses with 2xx per second. */
  readonly perSecond: number;
  /** Their 99th percentile, in milliseconds. */
  readonly p99Ms: number;
  /** The number of other responses. */
  readonly failed: number;
}

/** Enough that a request always waits; few enough that none of them waits long. */
const CONNECTIONS = 32;

/** The first part of the time does not count: connections are opened. */
const WARM_UP_SHARE = 0.2;

/** Measures how many requests a server can serve per second: each connection sends one request after the other. */
export async function measureCapacity({
  port,
  next,
  seconds,
}: ClosedLoopOptions): Promise<Capacity> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const startMs = performance.now();
  const countFromMs = startMs + seconds * 1_000 * WARM_UP_SHARE;
  const endMs = startMs + seconds * 1_000;
  const latencies: number[] = [];
  let failed = 0;
  const sendInTurn = async () => {
    for (let sentMs = startMs; sentMs < endMs; sentMs = performance.now()) {
      const status = await send(next(), { port, agent });
      const nowMs = performance.now();
      if (nowMs < countFromMs || nowMs >= endMs) continue;
      if (status < 300) latencies.push(nowMs - sentMs);
      else failed++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  agent.destroy();
  latencies.sort((a, b) => a - b);
  return {
    perSecond: (latencies.length * 1_000) / (endMs - countFromMs),
    p99Ms: latencies[Math.floor(latencies.length * 0.99)] ?? Number.NaN,
    failed,
  };
}
