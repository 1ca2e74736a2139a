import http from 'node:http';

import { send } from '../send.ts';
import { pickKind, type RequestKind } from './generator.ts';

export interface CapacityOptions {
  readonly port: number;
  readonly kinds: readonly RequestKind[];
  readonly seconds: number;
}

/** Enough that a request always waits; few enough that none of them waits long. */
const CONNECTIONS = 32;

/** The first part of the time does not count: connections are opened. */
const WARM_UP_SHARE = 0.2;

/**
 * Measures how many requests a server can serve per second: each connection sends one request after the
 * other. Counted are responses with 2xx.
 */
export async function measureCapacity({ port, kinds, seconds }: CapacityOptions): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  const startMs = performance.now();
  const countFromMs = startMs + seconds * 1_000 * WARM_UP_SHARE;
  const endMs = startMs + seconds * 1_000;
  let served = 0;
  const sendInTurn = async () => {
    while (performance.now() < endMs) {
      const kind = kinds[pickKind(kinds)] as RequestKind;
      const status = await send(kind, { port, agent });
      const nowMs = performance.now();
      if (status < 300 && nowMs >= countFromMs && nowMs < endMs) served++;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, sendInTurn));
  agent.destroy();
  return (served * 1_000) / (endMs - countFromMs);
}
