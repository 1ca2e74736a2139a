import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { buildService } from './build.ts';
import { planEdge, turnEdge } from './edge.ts';
import { isPortFree, portHolder } from './ports.ts';
import type { ProcessPlan, ProcessRecord } from './process.ts';
import { startProcess, stopProcess, waitUntilReady } from './process.ts';
import { folders, readRunning, writeRecords } from './state.ts';
import { planReplica, replicasOf, SERVICES, upstreamsOf } from './system.ts';
import { readOrCreateToken, tokenFile } from './token.ts';
import { ensureTool } from './tools.ts';

/** What this run started; taken back when the run fails or is interrupted. */
const started: ProcessRecord[] = [];

/** Brings the whole system to the state that the sources describe, and touches nothing that already is. */
async function up(port: number): Promise<void> {
  await step('Building the services', () => Promise.all(SERVICES.map(buildService)));
  const nginx = ensureTool('nginx');
  fs.mkdirSync(folders.data, { recursive: true });
  const token = readOrCreateToken(folders.run);

  const replicas = replicasOf(port);
  const services = replicas.map((replica) => planReplica(replica, { folders, token }));
  const prefix = path.join(folders.run, 'nginx');
  const edge = planEdge({ nginx, port, upstreams: upstreamsOf(replicas), prefix });

  const running = readRunning(folders.run);
  const kept = running.filter((record) => isWanted(record, [...services, edge]));
  const missing = (plan: ProcessPlan) => !kept.some((record) => record.name === plan.name);
  const stale = running.filter((record) => !kept.includes(record));
  const toStart = services.filter(missing);

  const runningEdge = kept.find(({ name }) => name === edge.name);

  if (toStart.length === 0 && runningEdge) {
    console.log('Already running');
  } else {
    await requireFreePorts([...toStart, edge].filter(missing), running);
    if (runningEdge) {
      await replace(toStart, running, (away) =>
        turnEdge(runningEdge, { prefix, upstreams: upstreamsOf(replicas), ...away }),
      );
    } else {
      await Promise.all(stale.map((record) => stopProcess(record)));
      writeRecords(folders.run, kept);
      await Promise.all(toStart.map((plan) => start(plan, kept)));
      await start(edge, kept);
    }
  }
  printAddresses(port, services);
}

/**
 * Starts `plans` one after another, each in place of what runs under its name, while the edge sends
 * the requests to the other replicas.
 */
async function replace(
  plans: readonly ProcessPlan[],
  running: readonly ProcessRecord[],
  turn: (away: { away?: number }) => Promise<void>,
): Promise<void> {
  let others = running;
  for (const plan of plans) {
    const old = others.find(({ name }) => name === plan.name);
    others = others.filter((record) => record !== old);
    if (old) {
      console.log(`Replacing ${plan.name}`);
      await turn({ away: Number(new URL(old.address).port) });
      await stopProcess(old);
    }
    await start(plan, others);
  }
  await turn({});
}

/** Whether a running process is what one of `plans` asks for. */
function isWanted(record: ProcessRecord, plans: readonly ProcessPlan[]): boolean {
  return plans.some(
    ({ name, fingerprint }) => name === record.name && fingerprint === record.fingerprint,
  );
}

async function requireFreePorts(
  plans: readonly ProcessPlan[],
  running: readonly ProcessRecord[],
): Promise<void> {
  const ours = new Set(running.flatMap(({ ports }) => ports));
  for (const { name, ports } of plans) {
    for (const port of ports) {
      if (ours.has(port) || (await isPortFree(port))) continue;
      const holder = await portHolder(port);
      throw new Error(
        `Port ${port}, which ${name} needs, is taken${holder ? ` by ${holder}` : ''}: ` +
          'free it, or choose another range (make up PORT=8180)',
      );
    }
  }
}

async function start(plan: ProcessPlan, kept: readonly ProcessRecord[]): Promise<void> {
  const logFile = path.join(folders.logs, `${plan.name}.log`);
  const begun = performance.now();
  const { record, child } = await startProcess(plan, logFile);
  started.push(record);
  writeRecords(folders.run, [...kept, ...started]);
  try {
    await waitUntilReady(record);
  } catch (error) {
    const code = child.exitCode === null ? '' : ` (exit code ${child.exitCode})`;
    const message = `Cannot start ${plan.name}: ${messageOf(error)}${code}\n${lastLines(logFile)}`;
    throw new Error(message, { cause: error });
  }
  console.log(`  ${plan.name.padEnd(10)} ready on ${plan.address} after ${secondsSince(begun)}`);
}

function lastLines(logFile: string): string {
  if (!fs.existsSync(logFile)) return '';
  const lines = fs.readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-10);
  return [
    `The last lines of ${path.relative(folders.root, logFile)}:`,
    ...lines.map((line) => `  ${line}`),
  ].join('\n');
}

async function step(title: string, work: () => Promise<unknown>): Promise<void> {
  const begun = performance.now();
  await work();
  console.log(`${title}: ${secondsSince(begun)}`);
}

function secondsSince(begun: number): string {
  return `${((performance.now() - begun) / 1000).toFixed(1)} s`;
}

function printAddresses(port: number, services: readonly ProcessPlan[]): void {
  const origin = `http://localhost:${port}`;
  const token = path.relative(folders.root, tokenFile(folders.run));
  console.log(`
Edge      ${origin}
${services.map(({ name, address }) => `${name.padEnd(9)} ${address}`).join('\n')}
Token     ${readOrCreateToken(folders.run)} (for reports, made for this machine; in ${token})

Try
  curl -X POST ${origin}/api/v1/users -H 'content-type: application/json' -d '{"name":"Ada","email":"ada@example.org"}'
  curl '${origin}/api/v1/catalog?limit=3'
  curl -H "Authorization: Bearer $(cat ${token})" ${origin}/api/v1/reports
`);
}

async function takeBack(): Promise<void> {
  await Promise.all(started.map((record) => stopProcess(record)));
  const left = readRunning(folders.run);
  if (left.length > 0) writeRecords(folders.run, left);
  else fs.rmSync(folders.run, { recursive: true, force: true });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function readPort(): number {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '8080' } } });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1024 || port > 60_000) {
    throw new Error(`PORT must be an integer from 1024 to 60000, got "${values.port}"`);
  }
  return port;
}

const interrupted = new Promise<never>((_, reject) => {
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => reject(new Error('\nInterrupted: stopping what was started')));
  }
});

try {
  await Promise.race([up(readPort()), interrupted]);
} catch (error) {
  console.error(messageOf(error));
  await takeBack();
  process.exit(1);
}
