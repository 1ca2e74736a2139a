import os from 'node:os';

/** The processor, memory and system of this machine. */
export function machineName(): string {
  const processors = os.cpus();
  const gibibytes = Math.round(os.totalmem() / 1024 ** 3);
  const name = processors[0]?.model.trim();
  return `${name}, ${processors.length} cores, ${gibibytes} GiB, ${os.type()} ${process.arch}`;
}

/** The line above a table of measurements: date, version of Node and machine. */
export function describeMachine(): string {
  const date = new Date().toISOString().slice(0, 10);
  return `${date}, Node ${process.version}, ${machineName()}.`;
}
