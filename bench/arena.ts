import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual } from 'node:util';

import { startPostgres } from '@fw/service/testing/postgres';
import pg from 'pg';

import { issueCertificate } from '../deploy/local/testing/certificate.ts';
import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { CONTESTANTS, loadContestant } from './arena/contestant.ts';
import { writeFiles } from './arena/files.ts';
import { SCHEMA } from './arena/items.ts';
import { PROFILES } from './arena/profiles.ts';
import type { Request, Sequence } from './http/messages.ts';
import { runWrk, warmUp } from './http/wrk.ts';
import { readSettings } from './options.ts';
import { type MeasuredProcess, PINNING, pinToLoadCore, startMeasured } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';

const SERVER = fileURLToPath(new URL('arena/server.ts', import.meta.url));
const UPLOAD_CONNECTIONS = 16;

type Counts = Readonly<Record<'rounds' | 'together' | 'alone' | 'connections', number>>;

/** The data of one run. */
interface Run {
  readonly folder: string;
  readonly database: string;
  readonly counts: Counts;
}

interface Usage {
  readonly cpuMicros: number;
  readonly uploadBytes: number;
  readonly peakMiB: number;
}

interface Server {
  readonly contestant: string;
  readonly url: string;
  readonly process: MeasuredProcess<number, Usage>;
}

interface Sample {
  readonly profile: string;
  readonly contestant: string;
  readonly round: number;
  /** CPU time per request while all contestants are under load; in the profile `upload`, per MiB. */
  readonly cpuMicros: number;
  /** While no other contestant is under load. */
  readonly requestsPerSecond: number;
  readonly bytesPerResponse: number;
  readonly peakMiB: number;
}

/** Measures the profiles of HttpArena and prints a report. */
export async function runArena(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares the framework with its peers in the HTTP/1.1 profiles of HttpArena.',
    names: {
      only: { help: 'contestants; always includes node', known: CONTESTANTS },
      profile: { help: 'profiles', known: Object.keys(PROFILES) },
    },
    counts: {
      rounds: { help: 'measured rounds, each with new processes', default: 3 },
      together: { help: 'seconds per round in which all contestants are under load', default: 12 },
      alone: { help: 'seconds per round in which each one is under load', default: 1 },
      connections: { help: `open connections of wrk; upload: ${UPLOAD_CONNECTIONS}`, default: 64 },
    },
  });
  if (!settings) return;
  const { names, counts } = settings;
  const contestants = CONTESTANTS.filter((name) => name === 'node' || names.only.includes(name));
  const loaded = await Promise.all(contestants.map(loadContestant));
  const environment = describeEnvironment(loaded.flatMap(({ packages }) => packages));

  pinToLoadCore(); // and with this process PostgreSQL
  const folder = mkdtempSync(join(tmpdir(), 'fw-arena-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  writeFiles(join(folder, 'static'));
  const certificate = issueCertificate(['127.0.0.1']);
  for (const [name, text] of Object.entries(certificate)) writeFileSync(join(folder, name), text);
  setDefaultCACertificates([certificate['tls.crt']]);
  const postgres = await startPostgres();
  const samples: Sample[] = [];
  try {
    await createTable(postgres.url);
    const run = { folder, database: postgres.url, counts };
    for (const name of names.profile) {
      samples.push(...(await measureProfile(name, contestants, run)));
    }
  } finally {
    await postgres.stop();
  }
  const markdown = [
    environmentLines(environment),
    `Medians of ${counts.rounds} rounds; ${PINNING}.`,
    ...tables(samples, contestants),
  ].join('\n\n');
  const data = { environment, settings: counts, pinning: PINNING, samples };
  publish({ name: 'arena', markdown, data }, settings);
}

async function createTable(connectionString: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  for (const statement of SCHEMA) await client.query(statement);
  await client.end();
}

async function measureProfile(
  name: string,
  contestants: readonly string[],
  run: Run,
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (let round = 1; round <= run.counts.rounds; round++) {
    const servers: Server[] = [];
    try {
      for (const contestant of rotate(contestants, round - 1)) {
        servers.push(await startServer(name, contestant, run));
      }
      if (round === 1) await checkParity(name, servers);
      samples.push(...(await measureRound(name, round, servers, run.counts)));
    } finally {
      for (const { process } of servers) await process.stop();
    }
  }
  return samples;
}

async function startServer(name: string, contestant: string, run: Run): Promise<Server> {
  const tls = name === 'json-tls' ? ['tls'] : [];
  const args = [SERVER, contestant, run.folder, run.database, ...tls];
  const process: Server['process'] = await startMeasured(...args);
  const url = `${tls.length > 0 ? 'https' : 'http'}://127.0.0.1:${process.ready}`;
  return { contestant, process, url };
}

/**
 * Measures CPU time while all contestants share one core: what disturbs the machine then disturbs all of
 * them. Requests per second are those of one contestant after another.
 */
async function measureRound(
  profile: string,
  round: number,
  servers: readonly Server[],
  counts: Counts,
): Promise<readonly Sample[]> {
  const isUpload = profile === 'upload';
  const connections = isUpload ? UPLOAD_CONNECTIONS : counts.connections;
  const load = (url: string, seconds: number) =>
    runWrk({ ...(PROFILES[profile] as Sequence), url, connections, seconds });
  const measureCpu = async ({ url, process }: Server) => {
    const before = await process.request();
    const { requests } = await load(url, counts.together);
    const after = await process.request();
    const uploadedMiB = (after.uploadBytes - before.uploadBytes) / 1024 ** 2;
    return (after.cpuMicros - before.cpuMicros) / (isUpload ? uploadedMiB : requests);
  };
  for (const { url, process } of servers) {
    const usedMicros = async () => (await process.request()).cpuMicros;
    await warmUp(usedMicros, () => load(url, 1));
  }
  const cpuTimes = await Promise.all(servers.map(measureCpu));
  const samples: Sample[] = [];
  for (const [index, { contestant, url, process }] of servers.entries()) {
    const { requests, requestsPerSecond, bytes } = await load(url, counts.alone);
    const { peakMiB } = await process.request();
    const cpuMicros = cpuTimes[index] ?? 0;
    const bytesPerResponse = bytes / requests;
    const result = { cpuMicros, requestsPerSecond, bytesPerResponse, peakMiB };
    samples.push({ profile, contestant, round, ...result });
    const progress = `${cpuMicros.toFixed(1)} µs, ${requestsPerSecond.toFixed()} req/s`;
    report(profile, `round ${round} of ${counts.rounds}: ${contestant} ${progress}`);
  }
  return samples;
}

/** The requests of a profile whose responses are compared. */
const COMPARED = 200;

/**
 * Compares status, media type and decoded body of the responses with those of the first server. Each
 * request is sent once before: some change items in the database that all servers share.
 *
 * @throws {Error} that names the first difference
 */
async function checkParity(name: string, servers: readonly Server[]): Promise<void> {
  const compared = (PROFILES[name] as Sequence).requests.slice(0, COMPARED);
  let expected: unknown[] | undefined;
  for (const { url, contestant } of servers) {
    for (const request of compared) await respond(url, request);
    const responses: unknown[] = [];
    for (const request of compared) responses.push(await respond(url, request));
    expected ??= responses;
    for (const [index, response] of responses.entries()) {
      if (isDeepStrictEqual(response, expected[index])) continue;
      const texts = [response, expected[index]].map((each) => JSON.stringify(each).slice(0, 200));
      throw new Error(
        `${contestant}, ${name}, ${compared[index]?.path}: ${texts.join('\ninstead of ')}`,
      );
    }
  }
}

async function respond(url: string, { method, path, headers, body, isChunked }: Request) {
  const response = await fetch(`${url}${path}`, {
    method: method ?? 'GET',
    headers: { 'Accept-Encoding': 'identity', ...headers },
    body: (isChunked ? new Blob([String(body)]).stream() : body) ?? null,
    duplex: 'half',
  });
  const [type] = response.headers.get('content-type')?.split(';') ?? [];
  const mediaType = type?.replace('application/javascript', 'text/javascript'); // both are in use
  const isCacheable = response.headers.has('x-cache');
  return { status: response.status, mediaType, isCacheable, body: await response.text() };
}

function report(profile: string, progress: string): void {
  process.stderr.write(`arena, ${profile}, ${progress}\n`);
}

function tables(samples: readonly Sample[], contestants: readonly string[]): readonly string[] {
  const profiles = [...Map.groupBy(samples, ({ profile }) => profile)];
  const table = (cell: (own: readonly Sample[], node: readonly Sample[]) => string) =>
    markdownTable(
      ['', ...contestants],
      profiles.map(([profile, group]) => {
        const of = (name: string) => group.filter(({ contestant }) => contestant === name);
        return [profile, ...contestants.map((name) => cell(of(name), of('node')))];
      }),
    );
  return [
    'CPU time of `node` divided by that of the framework, per request in the same round, in `upload` per MiB: more is better.',
    table((own, node) =>
      median(own.map(({ cpuMicros }, round) => (node[round]?.cpuMicros ?? 0) / cpuMicros)).toFixed(
        2,
      ),
    ),
    'Requests per second: more is better.',
    table((own) => median(own.map((sample) => sample.requestsPerSecond)).toFixed()),
    'Largest resident memory of the process in any round, in MiB: less is better.',
    table((own) => Math.max(...own.map(({ peakMiB }) => peakMiB)).toFixed()),
  ];
}
