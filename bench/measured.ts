/**
 * Runs this process as a server that its parent measures: tells it the port that `start` resolves
 * with, and the processor time used so far whenever asked; ends with its parent.
 *
 * @throws {Error} if this process was not forked with a channel
 */
export async function serveMeasured(start: () => Promise<number>): Promise<void> {
  const send = process.send?.bind(process);
  if (!send) throw new Error('This program is forked with a channel to its parent');
  process.on('disconnect', () => process.exit());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    send({ cpuMicros: user + system });
  });
  send({ port: await start() });
}
