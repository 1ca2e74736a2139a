import { parseArgs } from 'node:util';

import { VERSIONS } from '../../services/services.ts';
import { readCluster } from './cluster/record.ts';
import { ignoreClosedOutput } from './output.ts';
import { folders, readRunning } from './state.ts';
import { describeUsage } from './usage/usage.ts';

const TIMEOUT_MS = 5_000;

/** `node api-usage.ts --version v1` prints which clients have used version 1. */
async function printUsage(): Promise<void> {
  const version = readVersion();
  const metrics = await Promise.all(metricsUrls().map(readMetrics));
  process.stdout.write(describeUsage(version, metrics));
}

function readVersion(): string {
  const { values } = parseArgs({ options: { version: { type: 'string', default: 'v1' } } });
  const names = Object.keys(VERSIONS);
  if (names.includes(values.version)) return values.version;
  throw new Error(`VERSION must be ${names.join(' or ')}, got "${values.version}"`);
}

/** The addresses in `METRICS`; default: those of each process of the local system. */
function metricsUrls(): string[] {
  const given = process.env.METRICS?.split(/\s+/).filter(Boolean) ?? [];
  const wrong = given.find((url) => !/^https?:/.test(url) || !URL.canParse(url));
  if (wrong !== undefined) throw new Error(`METRICS must be URLs of metrics, got "${wrong}"`);
  if (given.length > 0) return given;
  if (readCluster(folders.run)) {
    throw new Error(
      'The system runs on a cluster: forward port 9090 of each pod, and set METRICS to the addresses',
    );
  }
  const services = readRunning(folders.run).filter(({ name }) => name !== 'edge');
  if (services.length > 0) {
    return services.map(({ readyUrl }) => new URL('/metrics', readyUrl).href);
  }
  throw new Error('There is no local system: start it with "make up", or set METRICS');
}

async function readMetrics(url: string): Promise<string> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
    if (!response.ok) throw new Error(`it responds with ${response.status}`);
    const text = await response.text();
    if (text.includes('# TYPE api_requests_total ')) return text;
    throw new Error('expected metrics with api_requests_total');
  } catch (error) {
    const { message, cause } = error as Error;
    const reason = cause instanceof Error ? cause.message : message;
    throw new Error(`Cannot read ${url}: ${reason}`, { cause: error });
  }
}

ignoreClosedOutput();
try {
  await printUsage();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
