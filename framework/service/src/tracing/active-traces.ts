import { AsyncLocalStorage } from 'node:async_hooks';

import type { Database, EndStatement, RequestTrace } from './tracing.ts';

/** The traces of the requests for which the current code runs: several if their statements are combined. */
type Traces = readonly RequestTrace[];

const NONE: Traces = [];
const active = new AsyncLocalStorage<Traces>();
let isOn = false;

/** From now on, the statements of databases are spans; databases that are already open may have none. */
export function turnStatementSpansOn(): void {
  isOn = true;
}

/** Whether statements are spans. */
export function hasStatementSpans(): boolean {
  return isOn;
}

/** The traces of the current requests; empty outside of requests. */
export function activeTraces(): Traces {
  return isOn ? (active.getStore() ?? NONE) : NONE;
}

/** Runs `work` for the requests of all `calls`: its statements are spans of each of them. */
export function runFor<T>(calls: readonly { readonly traces: Traces }[], work: () => T): T {
  return isOn
    ? active.run(
        calls.flatMap(({ traces }) => traces),
        work,
      )
    : work();
}

/** Begins a span of a statement in each current request; returns a function that ends them. */
export function beginStatement(database: Database, text: string): EndStatement | undefined {
  const traces = activeTraces();
  if (traces.length === 0) return undefined;
  const statement = { database, text, batchSize: traces.length };
  const ends = [...new Set(traces)].map((trace) => trace.beginStatement(statement));
  return (error) => {
    for (const end of ends) end(error);
  };
}
