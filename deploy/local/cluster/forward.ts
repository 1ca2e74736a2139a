import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `node forward.ts http://127.0.0.1:8080/ kubectl port-forward …` forwards a port to a Service. kubectl
 * forwards to one pod and does not notice its end: this program restarts kubectl when the address no
 * longer responds.
 */
const [address = '', command = '', ...args] = process.argv.slice(2);
const stop = new AbortController();
process.once('SIGTERM', () => stop.abort()).once('SIGINT', () => stop.abort());

while (!stop.signal.aborted) {
  // kubectl prints a line per connection; errors go to the log.
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = new AbortController();
  const closed = once(child, 'close')
    .catch((error: Error) => console.error(error.message))
    .finally(() => ended.abort());
  await untilUnavailable(AbortSignal.any([stop.signal, ended.signal]));
  child.kill();
  await closed;
}

/** Resolves when the address does not respond, or `signal` is aborted. */
async function untilUnavailable(signal: AbortSignal): Promise<void> {
  try {
    for (;;) {
      await sleep(500, undefined, { signal });
      const response = await fetch(address, {
        headers: { connection: 'close' },
        signal: AbortSignal.any([signal, AbortSignal.timeout(5_000)]),
      });
      await response.arrayBuffer();
    }
  } catch {
    // Limits restarts to two per second.
    if (!stop.signal.aborted) await sleep(500);
  }
}
