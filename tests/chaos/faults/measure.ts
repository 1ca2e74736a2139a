import { setTimeout as sleep } from 'node:timers/promises';

import { type Client, PROBE_NAMES, type ProbeName, type Sample } from './probes.ts';

/** A disturbance of the whole system. */
export interface Disturbance {
  begin(): unknown;
  end(): unknown;
  /** How long it lasts. */
  readonly ms: number;
}

/** What the clients of one kind of request saw during a disturbance. */
export interface Seen {
  readonly outcomes: readonly string[];
  readonly medianMs: number;
  readonly maxMs: number;
}

/** What happened during and after a disturbance. */
export interface Measurement {
  readonly seen: Readonly<Record<ProbeName, Seen>>;
  readonly notReady: readonly string[];
  readonly notLive: readonly string[];
  /** Whether Valkey still counted at the end of the disturbance. */
  readonly isLimitExact: boolean;
  /** From the end until every request succeeds, every process is ready and the rate limit is exact. */
  readonly recoveryMs: number;
}

/** Time between two requests of a kind. */
const INTERVAL_MS = 250;

/** A normal response is faster. */
const NORMAL_MS = 1_000;

/** The system counts as recovered after this time without an unusual response. */
const STABLE_MS = 2_000;

/** The longest recovery that is measured. */
const MAX_RECOVERY_MS = 30_000;

/** Disturbs the system while `client` sends requests, and waits until it has recovered. */
export async function measure(client: Client, disturbance: Disturbance): Promise<Measurement> {
  await disturbance.begin();
  const load = startLoad(client);
  await sleep(disturbance.ms - 2_000);
  const [notReady, notLive, isLimitExact] = await Promise.all([
    client.findFailing('/readyz'),
    client.findFailing('/livez'),
    client.isLimitExact(),
    sleep(2_000),
  ]);
  const faultEndMs = performance.now();
  await disturbance.end();
  const recoveryStartMs = performance.now();
  const readyMs = await untilReady(client, recoveryStartMs);
  await untilStable(load.samples, recoveryStartMs);
  const samples = await load.stop();
  const unusual = samples.filter((sample) => sample.sentMs >= recoveryStartMs && !isNormal(sample));
  const normalMs = Math.max(recoveryStartMs, ...unusual.map(({ sentMs }) => sentMs + INTERVAL_MS));
  const sent = samples.filter(({ sentMs }) => sentMs < faultEndMs);
  const byProbe = PROBE_NAMES.map((name) => {
    const own = sent.filter(({ probe }) => probe === name);
    return [name, summarize(own, faultEndMs)];
  });
  return {
    seen: Object.fromEntries(byProbe),
    notReady,
    notLive,
    isLimitExact,
    recoveryMs: Math.max(normalMs, readyMs) - recoveryStartMs,
  };
}

function startLoad(client: Client) {
  const samples: Sample[] = [];
  const pending: Promise<unknown>[] = [];
  const sendAll = () => {
    for (const probe of PROBE_NAMES) {
      pending.push(client.send(probe).then((sample) => samples.push(sample)));
    }
  };
  sendAll();
  const timer = setInterval(sendAll, INTERVAL_MS);
  return {
    samples,
    async stop(): Promise<readonly Sample[]> {
      clearInterval(timer);
      await Promise.all(pending);
      return samples;
    },
  };
}

function isNormal({ outcome, tookMs }: Sample): boolean {
  return outcome === 'ok' && tookMs < NORMAL_MS;
}

/** Resolves with the time at which every process was ready and the rate limit exact. */
async function untilReady(client: Client, recoveryStartMs: number): Promise<number> {
  const isReady = async () =>
    (await client.findFailing('/readyz')).length === 0 && (await client.isLimitExact());
  while (!(await isReady()) && performance.now() < recoveryStartMs + MAX_RECOVERY_MS)
    await sleep(50);
  return performance.now();
}

async function untilStable(samples: readonly Sample[], recoveryStartMs: number): Promise<void> {
  const isStable = () => {
    const sinceMs = performance.now() - STABLE_MS;
    const recent = samples.filter(
      ({ sentMs, tookMs }) => sentMs + tookMs > sinceMs && sentMs > recoveryStartMs,
    );
    return sinceMs > recoveryStartMs && recent.every(isNormal);
  };
  while (!isStable() && performance.now() < recoveryStartMs + MAX_RECOVERY_MS) await sleep(100);
}

/** Responses that arrived after the end of the fault may be normal again: only their times count. */
function summarize(samples: readonly Sample[], faultEndMs: number): Seen {
  const during = samples.filter(({ sentMs, tookMs }) => sentMs + tookMs <= faultEndMs);
  const times = samples.map(({ tookMs }) => tookMs).sort((a, b) => a - b);
  return {
    outcomes: [...new Set(during.map(({ outcome }) => outcome))].sort(),
    medianMs: times[Math.floor(times.length / 2)] ?? 0,
    maxMs: times.at(-1) ?? 0,
  };
}
