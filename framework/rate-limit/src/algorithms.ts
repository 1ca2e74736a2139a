import { type Records, SLOTS, TIME_MS, VALUES } from './key-table.ts';
import type { Hit, Policy } from './store.ts';

/** A hit, and the record of its key. Times are milliseconds of a clock that never steps back. */
interface RecordedHit {
  readonly id: number;
  readonly cost: number;
  readonly nowMs: number;
}

/** Counts a hit. A rejected hit, and one with cost 0, do not change the record. */
export type Count = (records: Records, hit: RecordedHit) => Hit;

/** Creates the function that counts by the algorithm of `policy`. */
export function createCount(policy: Policy): Count {
  if (policy.algorithm === 'fixed-window') return createFixedWindow(policy);
  if (policy.algorithm === 'token-bucket') return createTokenBucket(policy);
  return createSlidingWindow(policy);
}

/**
 * Counts in slots that together are longer than the window. A hit counts as long as its slot may be
 * in the window, so no interval as long as the window contains more than `max`. The newest slot expires
 * exactly one window after its last hit, so no client waits longer than that.
 *
 * A client that always sends as many requests as possible gets (slots - 1) / slots of its limit.
 */
function createSlidingWindow({ max, windowMs }: Policy): Count {
  const slotMs = windowMs / (SLOTS - 1);

  /** How many slots ago the last hit was; `SLOTS` if nothing in the record counts. */
  const ageOf = (lastMs: number, nowMs: number): number =>
    nowMs - lastMs >= windowMs ? SLOTS : Math.floor(nowMs / slotMs) - Math.floor(lastMs / slotMs);

  return ({ numbers, counts }, { id, cost, nowMs }) => {
    const lastMs = numbers[id + TIME_MS] as number;
    const age = ageOf(lastMs, nowMs);
    const newest = (id + VALUES) * 2;
    const oldest = newest + SLOTS - 1 - age;
    let used = 0;
    for (let at = newest; at <= oldest; at++) used += counts[at] as number;
    const left = max - used;
    if (cost <= left) {
      if (cost > 0) {
        if (age > 0) {
          counts.copyWithin(newest + age, newest, oldest + 1).fill(0, newest, newest + age);
        }
        counts[newest] = (counts[newest] as number) + cost;
        numbers[id + TIME_MS] = nowMs;
      }
      const sinceLastMs = cost > 0 ? 0 : nowMs - lastMs;
      return {
        allowed: true,
        remaining: left - cost,
        resetMs: Math.max(0, windowMs - sinceLastMs),
      };
    }

    // Oldest first, until enough has left the window.
    const newestSlot = Math.floor(lastMs / slotMs);
    let missing = cost - left;
    for (let at = oldest; at > newest; at--) {
      missing -= counts[at] as number;
      const slotEndMs = (newestSlot - (at - newest) + 1) * slotMs;
      // A time in the past is subtracted first, so that rounding never exceeds the window.
      if (missing <= 0) {
        return { allowed: false, remaining: left, resetMs: windowMs - (nowMs - slotEndMs) };
      }
    }
    const resetMs = age < SLOTS ? windowMs - (nowMs - lastMs) : windowMs;
    return { allowed: false, remaining: left, resetMs };
  };
}

/**
 * Counts from the first hit of a key until the window ends; around that end, up to twice `max` pass.
 * The time of a record is the end of its window.
 */
function createFixedWindow({ max, windowMs }: Policy): Count {
  return ({ numbers }, { id, cost, nowMs }) => {
    const isNew = nowMs >= (numbers[id + TIME_MS] as number);
    const endMs = isNew ? nowMs + windowMs : (numbers[id + TIME_MS] as number);
    const used = isNew ? 0 : (numbers[id + VALUES] as number);
    const left = max - used;
    const allowed = cost <= left;
    if (allowed && cost > 0) {
      numbers[id + TIME_MS] = endMs;
      numbers[id + VALUES] = used + cost;
    }
    const resetMs = Math.min(windowMs, endMs - nowMs);
    return { allowed, remaining: allowed ? left - cost : left, resetMs };
  };
}

/** A token counts as whole if it lacks no more than this: sums of rates are not exact. */
const ROUNDING = 1e-6;

/**
 * A bucket of `burst` tokens that refills at `max` per window (generic cell rate algorithm). A record
 * has the number of missing tokens, and when it was counted.
 */
function createTokenBucket({ burst, max, windowMs }: Policy): Count {
  const msPerToken = windowMs / max;
  const leftOf = (missing: number) => Math.max(0, Math.floor(burst - missing + ROUNDING));

  return ({ numbers }, { id, cost, nowMs }) => {
    const refilled = (nowMs - (numbers[id + TIME_MS] as number)) / msPerToken;
    const missing = Math.max(0, (numbers[id + VALUES] as number) - refilled);
    const lacking = missing + cost - burst;
    if (lacking > ROUNDING) {
      return { allowed: false, remaining: leftOf(missing), resetMs: lacking * msPerToken };
    }
    const after = Math.min(missing + cost, burst);
    if (cost > 0) {
      numbers[id + TIME_MS] = nowMs;
      numbers[id + VALUES] = after;
    }
    return { allowed: true, remaining: leftOf(after), resetMs: after * msPerToken };
  };
}
