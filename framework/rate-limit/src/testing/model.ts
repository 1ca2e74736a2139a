import type { Policy } from '../store.ts';

interface LoggedHit {
  readonly atMs: number;
  readonly cost: number;
}

/** The counts of one policy, as a log of the allowed hits of each key. */
export class LogModel {
  readonly #policy: Policy;
  readonly #logs = new Map<string, LoggedHit[]>();

  constructor(policy: Policy) {
    this.#policy = policy;
  }

  /** The remaining limit of `key`. */
  left(key: string, nowMs: number): number {
    const log = this.#logs.get(key) ?? [];
    const { algorithm, max, burst } = this.#policy;
    if (algorithm === 'token-bucket') return burst - this.#missing(log, nowMs);
    const counted =
      algorithm === 'fixed-window' ? this.#inWindow(log, nowMs) : this.#near(log, nowMs);
    return max - counted.reduce((sum, { cost }) => sum + cost, 0);
  }

  hit(key: string, cost: number, nowMs: number): { allowed: boolean; remaining: number } {
    const left = this.left(key, nowMs);
    const allowed = cost <= left + 1e-6;
    if (allowed && cost > 0) {
      this.#logs.set(key, [...(this.#logs.get(key) ?? []), { atMs: nowMs, cost }]);
    }
    const remaining = allowed ? left - cost : left;
    return { allowed, remaining: Math.max(0, Math.floor(remaining + 1e-6)) };
  }

  /**
   * Sliding window: hits of the last 16 slots, 15 of which make a window.
   * Before a pause as long as the window nothing counts, even in the slot that is half within it.
   */
  #near(log: readonly LoggedHit[], nowMs: number): readonly LoggedHit[] {
    const { windowMs } = this.#policy;
    const slots = 16;
    const slotOf = (atMs: number) => Math.floor(atMs / (windowMs / (slots - 1)));
    const endsOf = [...log.slice(1).map(({ atMs }) => atMs), nowMs];
    const paused = log.findLastIndex(({ atMs }, at) => (endsOf[at] ?? nowMs) - atMs >= windowMs);
    return log.slice(paused + 1).filter(({ atMs }) => slotOf(nowMs) - slotOf(atMs) < slots);
  }

  /** Fixed window: hits since the last one that came when no window was open. */
  #inWindow(log: readonly LoggedHit[], nowMs: number): readonly LoggedHit[] {
    let startMs = Number.NEGATIVE_INFINITY;
    for (const { atMs } of log) if (atMs - startMs >= this.#policy.windowMs) startMs = atMs;
    return nowMs - startMs >= this.#policy.windowMs
      ? []
      : log.filter(({ atMs }) => atMs >= startMs);
  }

  #missing(log: readonly LoggedHit[], nowMs: number): number {
    const msPerToken = this.#policy.windowMs / this.#policy.max;
    let missing = 0;
    let sinceMs = 0;
    for (const { atMs, cost } of log) {
      missing = Math.max(0, missing - (atMs - sinceMs) / msPerToken) + cost;
      sinceMs = atMs;
    }
    return Math.max(0, missing - (nowMs - sinceMs) / msPerToken);
  }
}
