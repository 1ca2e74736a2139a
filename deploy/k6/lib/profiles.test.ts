import fs from 'node:fs';
import path from 'node:path';

import type { Scenario } from 'k6/options';
import { expect, test } from 'vitest';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import { KINDS, OBJECTIVES } from '../../slo.ts';
import { ROLLOUT_KINDS } from './kinds.ts';
import { durationOf, PROFILES, type ProfileName } from './profiles.ts';

const NAMES = Object.keys(PROFILES) as ProfileName[];

function scenariosOf(name: ProfileName): Scenario[] {
  return Object.values(PROFILES[name]({}).scenarios ?? {});
}

test.each(NAMES.filter((name) => name !== 'rate-limit'))(
  '%s sends at its rate however slow the system is, with VUs allocated beforehand',
  (name) => {
    for (const scenario of scenariosOf(name)) {
      expect(scenario.executor).toMatch(/-arrival-rate$/);
      expect(scenario).toHaveProperty('preAllocatedVUs', expect.any(Number));
      expect(scenario).not.toHaveProperty('maxVUs');
    }
  },
);

test('each service in services.ts has a journey', () => {
  const text = fs.readFileSync(path.join(import.meta.dirname, 'journeys.ts'), 'utf8');
  const journeys = [...text.matchAll(/^export \{ (\w+) \} from/gm)].map(([, name]) => name);

  expect(journeys.sort(), 'add it to journeys.ts').toEqual(SERVICE_NAMES.toSorted());
});

test.each(
  SERVICES.flatMap(({ name, versions }) => versions.map((version) => `/api/${version}/${name}`)),
)('%s, which services.ts lists, has requests in smoke, load and rollout', (path) => {
  const isRead = (kind: string) => kind.startsWith(`GET ${path}`);

  expect(KINDS.some(isRead), 'add its routes to OBJECTIVES in slo.ts').toBe(true);
  expect(ROLLOUT_KINDS.reading.some(isRead), 'add a route to ROLLOUT_KINDS').toBe(true);
});

test.each(NAMES.filter((name) => name !== 'breakpoint'))(
  '%s fails if an iteration was dropped',
  (name) => {
    expect(PROFILES[name]({}).thresholds).toMatchObject({ dropped_iterations: ['count==0'] });
  },
);

test('breakpoint raises the rate by a quarter per step, and evaluates each step at its end', () => {
  const { scenarios, thresholds } = PROFILES.breakpoint({ RATE: '90', DURATION: '20s' });

  expect(scenarios).toMatchObject({
    'at-00050': { rate: 50, startTime: '10s' },
    'at-00063': { rate: 63, startTime: '30s' },
    'at-00078': { rate: 78, startTime: '50s' },
    'at-00090': { rate: 90, startTime: '70s' },
  });
  expect(thresholds).toMatchObject({
    'slower_than_p95{scenario:at-00063}': [
      { threshold: 'rate<0.05', abortOnFail: true, delayAbortEval: '50s' },
    ],
  });
});

test.each(['stress', 'spike'] as const)(
  '%s applies all objectives before the overload and 5 s after it',
  (name) => {
    const { scenarios, thresholds } = PROFILES[name]({ RATE: '500', DURATION: '20s' });

    expect(scenarios).toMatchObject({
      before: { rate: 50, duration: '5s', tags: { phase: 'normal' } },
      peak: { startTime: '5s', stages: [{ target: 500 }, { target: 500 }] },
      recovery: { rate: 50, startTime: '25s', duration: '5s' },
      after: { rate: 50, startTime: '30s', tags: { phase: 'normal' } },
    });
    expect(thresholds).toMatchObject({
      http_req_failed: ['rate==0'],
      'http_req_duration{name:GET /api/v2/users,phase:normal}': ['p(95)<250', 'p(99)<500'],
      'http_req_duration{name:GET /api/v2/users,phase:overload,status:200}': [
        'p(95)<1000',
        'p(99)<2000',
      ],
    });
  },
);

test.each([
  ['smoke', {}, 10],
  ['load', {}, 75],
  ['soak', {}, 1_200],
  ['spike', { DURATION: '20s' }, 35],
  ['breakpoint', { RATE: '60', DURATION: '5s' }, 20],
] as const)('%s with %j takes %i s', (name, env, seconds) => {
  expect(durationOf(PROFILES[name](env))).toBe(seconds);
});

test.each(['smoke', 'load', 'soak'] as const)(
  '%s has a latency objective for every kind of request',
  (name) => {
    const { thresholds } = PROFILES[name]({});

    expect(thresholds?.http_req_failed).toEqual([name === 'smoke' ? 'rate==0' : 'rate<0.001']);
    for (const kind of KINDS) {
      expect(thresholds).toMatchObject({
        [`http_req_duration{name:${kind}}`]: [
          `p(95)<${OBJECTIVES[kind].p95Ms}`,
          `p(99)<${OBJECTIVES[kind].p99Ms}`,
        ],
      });
    }
  },
);

test('rollout sends at least 40,000 requests, and none may fail', () => {
  const { scenarios, thresholds } = PROFILES.rollout({});

  const { rate, duration } = scenarios!.stream as { rate: number; duration: string };
  expect(rate).toBe(300);
  expect(rate * Number.parseInt(duration, 10)).toBeGreaterThanOrEqual(40_000);
  expect(thresholds).toMatchObject({ http_req_failed: ['rate==0'] });
});

test.each([
  [300, 100, 200],
  [600, 100, 500],
  [50, 50, 0],
])(
  'of %i simultaneous requests of one user, %i pass and %i are rejected',
  (requests, ...counts) => {
    const { thresholds } = PROFILES['rate-limit']({ REQUESTS: String(requests) });

    expect(thresholds).toMatchObject({
      requests_passed: [`count==${counts[0]}`],
      requests_limited: [`count==${counts[1]}`],
    });
  },
);

test('LATENCY_FACTOR multiplies the latency objectives', () => {
  const { p95Ms, p99Ms } = OBJECTIVES['GET /api/v1/users'];

  const { thresholds } = PROFILES.smoke({ LATENCY_FACTOR: '2.5' });

  expect(thresholds?.['http_req_duration{name:GET /api/v1/users}']).toEqual([
    `p(95)<${2.5 * p95Ms}`,
    `p(99)<${2.5 * p99Ms}`,
  ]);
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
