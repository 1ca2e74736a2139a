import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { serviceImage } from '../../deploy/local/cluster/images.ts';
import { folders } from '../../deploy/local/state.ts';
import { createRelease, NAME, type Platform, type Release } from './platform.ts';
import { merge, type Values } from './values.ts';
import type { World } from './world.ts';

/** The release of the next version of users, and the name of its Service. */
export const NEXT = 'users-next';

/** The values on a page about canary releases, in the order of its steps. */
export interface CanaryValues {
  /** Of the platform: the next version may use its PostgreSQL. */
  readonly client: Values;
  /** Of the next version. */
  readonly next: Values;
  /** Of the platform: requests with a header reach the next version. */
  readonly header: Values;
  /** Of the platform: the next version receives a tenth of the requests. */
  readonly share: Values;
}

/** Reads the values for users in `docs/operations/canary.md`, its first four, with the names of the test. */
export function readCanaryValues(controllerNamespace: string): CanaryValues {
  const page = fs.readFileSync(path.join(folders.root, 'docs/operations/canary.md'), 'utf8');
  const [client, next, header, share] = [...page.matchAll(/^```yaml\n(.*?)^```/gms)]
    .map(([, block = '']) => block.replaceAll('platform', NAME))
    .map((block): Values => parse(block.replaceAll('gateways', controllerNamespace)));
  assert.ok(client && next && header && share, 'expected four blocks of YAML');
  return { client, next, header, share };
}

/** Values of the platform that give the next version `weight` percent of the requests. */
export function split(weight: number): Values {
  return { users: { httpRoute: { weight: 100 - weight, others: [{ name: NEXT, weight }] } } };
}

/** Installs the next version of users, which announces the end of version 1. */
export async function installNext(world: World, values: Values): Promise<Release> {
  const release = createRelease(world, 'users', NEXT);
  const config = { LOG_LEVEL: 'warn', V1_SUNSET: '2099-12-31' };
  await release.put(merge(values, { image: serviceImage(world.settings), config }));
  return release;
}

/** The requests that reach the next version. */
export interface Share {
  readonly percent: number;
  /** Number of requests that are counted. Default 200. */
  readonly requests?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Waits until the next version receives a share of the requests, ± 2 % unless all or none; returns their number.
 * The pods of a controller apply a changed route some time after `helm upgrade --wait`.
 */
export function waitForShare(
  { cluster }: World,
  platform: Platform,
  { percent, requests = 200, headers }: Share,
): Promise<number> {
  const tolerance = percent === 0 || percent === 100 ? 0 : 2;
  const what = `${percent} % of the requests to reach the next version`;
  return waitFor({ cluster, what, seconds: 60 }, async () => {
    const count = await countNext(platform, requests, headers);
    const difference = Math.abs((count / requests) * 100 - percent);
    assert.ok(difference <= tolerance, `it received ${count} of ${requests}`);
    return count;
  });
}

/**
 * The number of responses from the next version: only these announce the end of version 1. Each request has a
 * connection of its own, so that they reach every pod of the controller.
 */
export async function countNext(
  { api }: Platform,
  requests: number,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  const all = { ...headers, connection: 'close' };
  const numbers = Array.from({ length: requests }).keys();
  let count = 0;
  const sendNext = async () => {
    for (const _ of numbers) {
      const response = await api.get('/api/v1/users?page=1&limit=1', all);
      assert.equal(response.status, 200, await response.text());
      if (response.headers.has('sunset')) count += 1;
    }
  };
  await Promise.all(Array.from({ length: 8 }, sendNext));
  return count;
}
