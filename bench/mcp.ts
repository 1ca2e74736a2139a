import { Agent, request } from 'node:http';
import { fileURLToPath } from 'node:url';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { median, rotate } from '../deploy/local/testing/statistics.ts';
import { CALL, type McpReady } from './mcp/server.ts';
import { readSettings } from './options.ts';
import { type MeasuredProcess, startMeasured } from './process.ts';
import { describeEnvironment, environmentLines, publish } from './report.ts';

const SERVER = fileURLToPath(new URL('mcp/server.ts', import.meta.url));

const WARM_UP_ROUNDS = 20;

/** Connections of the load. */
const CONNECTIONS = 16;

const BODY = JSON.stringify(CALL);
const REQUESTS = {
  http: { method: 'GET', path: '/users/42' },
  post: { method: 'POST', path: '/same-size' },
  mcp: { method: 'POST', path: '/mcp' },
};
type Kind = keyof typeof REQUESTS;
const KINDS = Object.keys(REQUESTS) as Kind[];

/** CPU time per request in µs, of each kind. */
type Round = Readonly<Record<Kind, number>>;

/** Measures the CPU time of a call of a tool, and prints a report. */
export async function runMcp(args: readonly string[]): Promise<void> {
  const settings = readSettings(args, {
    summary: 'Compares a call of a tool with the HTTP request and a POST of the same size.',
    names: {},
    counts: {
      requests: { help: 'requests of each kind in a round', default: 500 },
      rounds: { help: 'measured rounds', default: 61 },
    },
  });
  if (!settings) return;
  const { requests, rounds: count } = settings.counts;
  const environment = describeEnvironment([]);
  const server = await startMeasured<McpReady, number>(SERVER);
  const rounds: Round[] = [];
  try {
    for (let at = 0; at < WARM_UP_ROUNDS; at++) await measureRound(server, requests, at);
    for (let at = 0; at < count; at++) rounds.push(await measureRound(server, requests, at));
  } finally {
    await server.stop();
  }
  const micros = (kind: Kind) => median(rounds.map((round) => round[kind])).toFixed(1);
  const share = median(rounds.map(({ http, post, mcp }) => mcp / (http + post)));
  const markdown = [
    environmentLines(environment),
    `CPU time of the server per request, medians of ${count} rounds; less is better. A call needs ` +
      `${(share * 100).toFixed()} % of the HTTP request and a POST of the same size together.`,
    markdownTable(
      ['', 'µs'],
      [
        ['HTTP request', micros('http')],
        ['POST with the bodies of a call', micros('post')],
        ['call of the tool', micros('mcp')],
      ],
    ),
  ].join('\n\n');
  publish({ name: 'mcp', markdown, data: { environment, rounds } }, settings);
}

/** Sends the requests of each kind, in an order that rotates. */
async function measureRound(
  server: MeasuredProcess<McpReady, number>,
  requests: number,
  round: number,
): Promise<Round> {
  const measured = { http: 0, post: 0, mcp: 0 };
  for (const kind of rotate(KINDS, round)) {
    const before = await server.request();
    await sendAll(server.ready.port, kind, requests);
    measured[kind] = ((await server.request()) - before) / requests;
  }
  return measured;
}

async function sendAll(port: number, kind: Kind, count: number): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
  let left = count;
  const work = async () => {
    while (left-- > 0) await sendOne(agent, port, kind);
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
  agent.destroy();
}

function sendOne(agent: Agent, port: number, kind: Kind): Promise<void> {
  const { method, path } = REQUESTS[kind];
  return new Promise((resolve, reject) => {
    const sent = request({ agent, port, host: '127.0.0.1', method, path });
    sent.on('error', reject).on('response', (response) => {
      if (response.statusCode !== 200) reject(new Error(`${kind}: ${response.statusCode}`));
      response.resume().on('end', resolve);
    });
    if (method === 'POST') sent.setHeader('Content-Type', 'application/json').end(BODY);
    else sent.end();
  });
}
