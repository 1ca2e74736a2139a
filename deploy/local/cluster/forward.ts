import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * `node forward.ts http://127.0.0.1:8080/ kubectl port-forward …` keeps a port of this machine
 * leading to a Service. kubectl picks one pod of it, and does not see that pod end: so the address is
 * asked now and then, and kubectl is started anew when there is no answer.
 */
const [address = '', command = '', ...args] = process.argv.slice(2);
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort()).once('SIGINT', () => ending.abort());

while (!ending.signal.aborted) {
  // It prints a line for each connection; what goes wrong goes to the log.
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const gone = new AbortController();
  const closed = once(child, 'close')
    .catch((error: Error) => console.error(error.message))
    .finally(() => gone.abort());
  await untilSilent(AbortSignal.any([ending.signal, gone.signal]));
  child.kill();
  await closed;
}

/** Resolves once the address does not answer, or `signal` says so. */
async function untilSilent(signal: AbortSignal): Promise<void> {
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
    // Whatever it was, another forward is the remedy; not more than two a second.
    if (!ending.signal.aborted) await sleep(500);
  }
}
