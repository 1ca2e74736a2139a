import fs from 'node:fs';
import path from 'node:path';

import { runProgram } from '../cluster/program.ts';
import type { ProcessPlan } from '../processes/process.ts';

const VERSION = '3.6.1';

/** Spans that Zipkin keeps in memory; it removes the oldest traces first. */
const MAX_SPANS = 100_000;

/** Java reads paths in the encoding of the locale: in that of C, `ü` becomes `??`. */
const LOCALE = { LC_ALL: 'C.UTF-8' };

/**
 * The path of Zipkin's program below `local`, which Maven copies there. Maven downloads it once for all checkouts.
 *
 * @throws {Error} with the reason, if Maven cannot
 */
export async function ensureZipkin(local: string, log: (line: string) => void): Promise<string> {
  const folder = path.join(local, 'zipkin');
  const target = path.join(folder, `zipkin-server-${VERSION}-slim.jar`);
  if (fs.existsSync(target)) return target;
  log(`Fetching Zipkin ${VERSION} (86 MB) with Maven`);
  const artifact = `io.zipkin:zipkin-server:${VERSION}:jar:slim`;
  const goal = ['dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`];
  const env = { ...process.env, ...LOCALE };
  await runProgram('mvn', ['--batch-mode', '--quiet', ...goal], { seconds: 600, env });
  return target;
}

export interface ZipkinOptions {
  /** The path of its program. */
  readonly jar: string;
  readonly port: number;
  /** The folder of its temporary files. */
  readonly folder: string;
}

/** How to run Zipkin, which keeps traces in memory. */
export function planZipkin({ jar, port, folder }: ZipkinOptions): ProcessPlan {
  fs.mkdirSync(folder, { recursive: true });
  const listen = { ip: '127.0.0.1', port, 'protocols[0]': 'http' };
  const args = [
    ...['-Xmx512m', '-XX:TieredStopAtLevel=1', `-Djava.io.tmpdir=${folder}`, '-jar', jar],
    ...Object.entries(listen).map(([name, value]) => `--armeria.ports[0].${name}=${value}`),
  ];
  return {
    name: 'zipkin',
    command: 'java',
    args,
    env: { PATH: process.env.PATH ?? '', MEM_MAX_SPANS: String(MAX_SPANS), ...LOCALE },
    cwd: folder,
    ports: [port],
    address: `http://localhost:${port}`,
    readyUrl: `http://127.0.0.1:${port}/health`,
    fingerprint: args.join(' '),
  };
}
