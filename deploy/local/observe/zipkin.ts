import { createHash } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { ProcessPlan } from '../processes/process.ts';

const VERSION = '3.6.1';
const FILE = `zipkin-server-${VERSION}-slim.jar`;
const ADDRESS = `https://repo1.maven.org/maven2/io/zipkin/zipkin-server/${VERSION}/${FILE}`;
const SHA256 = '981b1de6139b4f8f787a909c308028732f9713ae5284353d2a5aa404d1094775';

/** Spans that Zipkin keeps in memory; it removes the oldest traces first. */
const MAX_SPANS = 100_000;

/**
 * The path of Zipkin's program, which is downloaded first if it is missing: once for all checkouts.
 *
 * @throws {Error} with instructions, if it cannot be downloaded or is not the expected file
 */
export async function ensureZipkin(log: (line: string) => void): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const target = path.join(cache, 'fw/tools', `zipkin-${VERSION}`, FILE);
  if (fs.existsSync(target)) return target;
  log(`Downloading Zipkin ${VERSION} (86 MB)`);
  const bytes = await download().catch((cause: Error) => {
    const reason = cause.cause instanceof Error ? cause.cause.message : cause.message;
    throw new Error(`Cannot download Zipkin (${reason}): save ${ADDRESS} as ${target}`, { cause });
  });
  const digest = createHash('sha256').update(bytes).digest('hex');
  if (digest !== SHA256) {
    throw new Error(`Cannot use ${ADDRESS}: its SHA-256 is ${digest}, expected ${SHA256}`);
  }
  fs.mkdirSync(path.dirname(target), { recursive: true });
  fs.writeFileSync(`${target}.${process.pid}`, bytes);
  fs.renameSync(`${target}.${process.pid}`, target);
  return target;
}

async function download(): Promise<Uint8Array> {
  const response = await fetch(ADDRESS);
  if (!response.ok) throw new Error(`status ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
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
    env: { PATH: process.env.PATH ?? '', MEM_MAX_SPANS: String(MAX_SPANS) },
    cwd: folder,
    ports: [port],
    address: `http://localhost:${port}`,
    readyUrl: `http://127.0.0.1:${port}/health`,
    fingerprint: args.join(' '),
  };
}
