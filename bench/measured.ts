/**
 * Connects a measured process with its parent: sends `ready`, and for each message of the parent the
 * result of `measure`. Exits with the parent.
 *
 * @throws {Error} if this process has no channel to a parent
 */
export function serveParent(ready: unknown, measure: () => unknown): void {
  const send = process.send?.bind(process);
  if (!send) throw new Error('Cannot run without a channel to a parent process');
  process.on('disconnect', () => process.exit());
  process.on('message', async () => send(await measure()));
  send(ready);
}
