import type { Send } from './connections.ts';
import { isConnectionLost } from './errors.ts';

/** Runs `work` in one transaction; `timeoutMs` is the time limit of each statement, `Infinity` for none. */
export async function runTransaction<T>(
  send: Send,
  timeoutMs: number,
  work: () => Promise<T>,
): Promise<T> {
  const limitMs = Number.isFinite(timeoutMs) ? Math.ceil(timeoutMs) : 0;
  await send({ text: `BEGIN; SET LOCAL statement_timeout = ${limitMs}` });
  try {
    const result = await work();
    const { command } = await send({ text: 'COMMIT' });
    if (command !== 'COMMIT') throw new Error('Cannot commit: a statement has failed');
    return result;
  } catch (error) {
    if (!isConnectionLost(error)) await send({ text: 'ROLLBACK' });
    throw error;
  }
}
