/**
 * Runs this process as a server that its parent measures. Sends the parent the port that `start`
 * returns and, for each message, the CPU time used so far. Exits with the parent.
 *
 * @throws {Error} if this process was not forked with a channel
 */
export async function serveMeasured(start: () => Promise<number>): Promise<void> {
  const send = process.send?.bind(process);
  if (!send) throw new Error('Cannot run without a channel to a parent process');
  process.on('disconnect', () => process.exit());
  process.on('message', () => {
    const { user, system } = process.cpuUsage();
    send({ cpuMicros: user + system });
  });
  send({ port: await start() });
}
