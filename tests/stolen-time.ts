import fs from 'node:fs';
import os from 'node:os';

/** Fields of the first line of /proc/stat (proc_pid_stat(5)), in ticks: idle time, and that of other virtual machines. */
const IDLE = [3, 4];
const STEAL = 7;

/**
 * Starts to measure which share of the processor time that this machine needed was taken by other virtual
 * machines on its host. The share is 0 where the operating system does not know it.
 */
export function measureStolenTime(): () => number {
  const before = readTicks();
  return () => {
    const ticks = readTicks().map((value, index) => value - (before[index] ?? 0));
    const needed = ticks.reduce((sum, value, index) => sum + (IDLE.includes(index) ? 0 : value), 0);
    return needed > 0 ? (ticks[STEAL] ?? 0) / needed : 0;
  };
}

/** The share as a sentence, for a page of results. */
export function describeStolenTime(share: number): string {
  return `Other virtual machines on the host took ${(share * 100).toFixed(1)} % of the processor time that this machine needed.`;
}

function readTicks(): readonly number[] {
  if (os.platform() !== 'linux') return [];
  const [line = ''] = fs.readFileSync('/proc/stat', 'utf8').split('\n');
  // The last two fields are contained in others.
  return line.trim().split(/\s+/).slice(1, 9).map(Number);
}
