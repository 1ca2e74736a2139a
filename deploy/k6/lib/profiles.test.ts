import fs from 'node:fs';
import path from 'node:path';

import type { Scenario } from 'k6/options';
import { expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import { ROLLOUT_KINDS } from './kinds.ts';
import { KINDS } from './objectives.ts';
import { PROFILES, type ProfileName } from './profiles.ts';

const _NAMES = Object.keys(PROFILES) as ProfileName[];

function _scenariosOf(name: ProfileName): Scenario[] {
  return Object.values(PROFILES[name]({}).scenarios ?? {});
}

test('each service in services.ts has a journey', () => {
  const text = fs.readFileSync(path.join(import.meta.dirname, 'journeys.ts'), 'utf8');
  const journeys = [...text.matchAll(/^export \{ (\w+) \} from/gm)].map(([, name]) => name);

  expect(journeys.sort(), 'add it to journeys.ts').toEqual(SERVICE_NAMES.toSorted());
});

test.each(
  SERVICES.flatMap(({ name, versions }) => versions.map((version) => `/api/${version}/${name}`)),
)('%s, which services.ts lists, has requests in smoke, load and rollout', (path) => {
  const isRead = (kind: string) => kind.startsWith(`GET ${path}`);

  expect(KINDS.some(isRead), 'add its routes to files/slo.json of its chart').toBe(true);
  expect(ROLLOUT_KINDS.reading.some(isRead), 'add a route to ROLLOUT_KINDS').toBe(true);
});

test.each([
  ['smoke', { DURATION: '10' }, 'DURATION is "10": expected a form such as "30s" or "5m"'],
  ['load', { DURATION: '-1m' }, 'DURATION is "-1m": expected a form such as "30s" or "5m"'],
  ['rollout', { RATE: 'fast' }, 'RATE is "fast": expected a whole number from 1 to 10000'],
  ['rollout', { RATE: '0.5' }, 'RATE is "0.5": expected a whole number from 1 to 10000'],
  ['rate-limit', { REQUESTS: '0' }, 'REQUESTS is "0": expected a whole number from 1 to 10000'],
  ['smoke', { LATENCY_FACTOR: '-1' }, 'LATENCY_FACTOR is "-1": expected a number above 0'],
] as const)('%s rejects %j', (name, env, message) => {
  expect(() => PROFILES[name](env)).toThrow(new RangeError(message));
});
