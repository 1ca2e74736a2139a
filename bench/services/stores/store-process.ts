/*
 * The process of one store: `node store-process.ts <store> <place>`. It answers each message, which
 * names a work, with how much of it was done.
 */

import type { User } from '@fw/users/src/user.ts';
import type { Place } from '../databases.ts';

import { MEASURED_STORES, openStore, WORKS, type Work } from './store.ts';

const IN_FLIGHT = 16;
const ROUND_MS = 700;

/** What one round found out. */
export interface StoreRound {
  readonly perSecond: number;
  /** Of this process. */
  readonly cpuMicrosEach: number;
}

const [name = '', place = ''] = process.argv.slice(2);
const send = process.send?.bind(process);
const known = MEASURED_STORES.find((candidate) => candidate === name);
if (!send || !known) throw new Error('Usage: store-process.ts <store> <place>, with a channel');

const store = await openStore(known, JSON.parse(place) as Place);
const users: User[] = [];
let created = 0;
for (const work of WORKS) await measure(work); // so that the code is compiled

process.on('disconnect', () => process.exit());
process.on('message', async (work: Work) => send(await measure(work)));
send('ready');

async function measure(work: Work): Promise<StoreRound> {
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  const endMs = startedMs + ROUND_MS;
  const counts = await Promise.all(Array.from({ length: IN_FLIGHT }, () => workUntil(endMs, work)));
  const seconds = (performance.now() - startedMs) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  const count = counts.reduce((sum, each) => sum + each);
  return { perSecond: count / seconds, cpuMicrosEach: (user + system) / count };
}

/** Counts what the store has acknowledged. */
async function workUntil(endMs: number, work: Work): Promise<number> {
  let count = 0;
  while (performance.now() < endMs) {
    const user = work === 'get' ? anyUser() : newUser();
    const answer = await store[work](user);
    if (work !== 'get') users.push(user);
    else if (!answer) throw new Error(`${name} has lost ${user.id}`);
    count++;
  }
  return count;
}

function anyUser(): User {
  return users[Math.floor(Math.random() * users.length)] ?? newUser();
}

function newUser(): User {
  const createdAt = new Date();
  const id = crypto.randomUUID();
  const email = `user.${created++}@example.org`;
  return { id, name: 'Ada Lovelace', email, createdAt, updatedAt: createdAt, version: 1 };
}
