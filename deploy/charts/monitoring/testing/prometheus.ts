import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { stringify } from 'yaml';
import { ensureTool } from '../../../../tools/programs.ts';
import { freePort } from '../../../local/testing/ports.ts';

/** A sample of a query result; the value is text such as `0.5` or `NaN`. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [seconds: number, text: string];
}

/** A running Prometheus. */
export interface Prometheus {
  readonly origin: string;
  /** @throws {Error} with the message of Prometheus, if it rejects the query */
  query(expr: string): Promise<readonly Sample[]>;
  stop(): Promise<void>;
}

/** An address with metrics, such as `127.0.0.1:9090`, and the labels of its series. */
export interface Target {
  readonly address: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Starts Prometheus in `folder`; it reads the targets and evaluates the rules every second. */
export async function startPrometheus(
  folder: string,
  { targets, rules }: { readonly targets: readonly Target[]; readonly rules: readonly unknown[] },
): Promise<Prometheus> {
  rules.forEach((some, index) => {
    fs.writeFileSync(path.join(folder, `rules-${index}.yaml`), stringify(some));
  });
  const statics = targets.map(({ address, labels }) => ({ targets: [address], labels }));
  const config = {
    global: { scrape_interval: '1s', evaluation_interval: '1s' },
    rule_files: ['rules-*.yaml'],
    scrape_configs: [{ job_name: 'pods', static_configs: statics }],
  };
  fs.writeFileSync(path.join(folder, 'prometheus.yaml'), stringify(config));
  const address = `127.0.0.1:${await freePort()}`;
  const args = [
    '--config.file=prometheus.yaml',
    '--storage.tsdb.path=data',
    `--web.listen-address=${address}`,
    '--log.level=error',
  ];
  const child = spawn(ensureTool('prometheus'), args, { cwd: folder, stdio: 'inherit' });
  const origin = `http://${address}`;
  while (!(await isReady(origin))) {
    if (child.exitCode !== null) throw new Error(`Prometheus ended with code ${child.exitCode}`);
    await sleep(100);
  }
  return {
    origin,
    query: (expr) => query(origin, expr),
    async stop() {
      child.kill();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}

async function isReady(origin: string): Promise<boolean> {
  return fetch(`${origin}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function query(origin: string, expr: string): Promise<readonly Sample[]> {
  const body = new URLSearchParams({ query: expr });
  const response = await fetch(`${origin}/api/v1/query`, { method: 'POST', body });
  const { error, data } = JSON.parse(await response.text());
  if (error !== undefined) throw new Error(`${error}: ${expr}`);
  return data.result;
}
