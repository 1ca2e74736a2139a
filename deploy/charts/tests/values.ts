import fs from 'node:fs';
import path from 'node:path';

import { parse } from 'yaml';

import { SERVICE_NAMES, SERVICES } from '../../../services/services.ts';
import type { Values } from './render.ts';

/** Merges values as Helm does: the last map that has a key wins. */
export function merge(...maps: readonly (Values | undefined)[]): Values {
  const result: Record<string, unknown> = {};
  for (const [key, value] of maps.flatMap((map) => Object.entries(map ?? {}))) {
    const earlier = result[key];
    result[key] = isMap(earlier) && isMap(value) ? merge(earlier, value) : value;
  }
  return result;
}

function isMap(value: unknown): value is Values {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The values in a file; the path is relative to this folder. */
function readValues(file: string): Values {
  return parse(readText(file));
}

function readText(file: string): string {
  return fs.readFileSync(path.join(import.meta.dirname, file), 'utf8');
}

const OFF = { enabled: false };
const SERVER = { to: [{ ipBlock: { cidr: '10.1.2.3/32' } }] };
export const GATEWAY = { podSelector: { matchLabels: { app: 'gateway' } } };
export const HOSTS = [{ host: 'api.example.org' }];

/** The required values of each chart. */
export const NEEDED: Readonly<Record<string, Values>> = Object.fromEntries(
  SERVICES.map(({ name, authenticated }) => [
    name,
    authenticated
      ? { secrets: { JWT_SECRET: { value: 'a secret of thirty-two characters' } } }
      : {},
  ]),
);

/** Values with two pods and stores that pods share. */
export const SHARED: Readonly<Record<string, Values>> = Object.fromEntries(
  SERVICES.map(({ name, store }) => {
    const stores = {
      database: {
        persistence: OFF,
        secrets: { DATABASE_URL: { value: `postgres://u:p@db:5433/${name}` } },
        networkPolicy: { egress: { database: { ...SERVER, ports: [5433] } } },
      },
      counters: {
        secrets: { REDIS_URL: { value: 'redis://:p@cache:6380' } },
        networkPolicy: { egress: { counters: { ...SERVER, ports: [6380] } } },
      },
    };
    return [name, merge(NEEDED[name], { replicaCount: 2 }, stores[store])];
  }),
);

/** Enables the optional features of a service's chart; needs the values in `SHARED`. */
export const EVERYTHING: Values = {
  autoscaling: { enabled: true },
  ingress: { enabled: true, hosts: HOSTS },
  httpRoute: {
    enabled: true,
    parentRefs: [{ name: 'public' }],
    hostnames: ['api.example.org'],
  },
  networkPolicy: { from: [GATEWAY] },
  entryProbe: { enabled: true, url: 'https://api.example.org' },
  metrics: {
    serviceMonitor: { enabled: true },
    prometheusRule: { enabled: true },
    dashboard: { enabled: true },
  },
};

/** Replaces the Deployment by a Rollout; needs the values in `SHARED`. */
export const PROGRESSIVE: Values = {
  progressiveDelivery: { enabled: true, prometheus: { address: 'http://prometheus:9090' } },
};

/** Values of the chart `common` for a service that uses no package of this repository: the example of its README. */
export const SHOP: Values = parse(
  /```yaml\n(.*?)```/s.exec(readText('../common/README.md'))?.[1] ?? '',
);

/** The values of the platform for production, which ask for those of `SECOND_FILE`. */
export const PRODUCTION_FILE = readValues('../platform/values-production.yaml');

/** The public keys and the issuer of tokens. */
export const TOKENS = {
  JWT_JWKS_URL: 'https://login.example.org/keys',
  JWT_ISSUER: 'https://login.example.org',
};

/** What a second file of values for production contains. */
export const SECOND_FILE: Values = {
  global: {
    httpRoute: { parentRefs: [{ name: 'public' }], hostnames: ['api.example.org'] },
  },
  users: { config: TOKENS, networkPolicy: { egress: { database: SERVER, jwks: SERVER } } },
  catalog: { networkPolicy: { egress: { database: SERVER } } },
  reports: { config: TOKENS, networkPolicy: { egress: { counters: SERVER, jwks: SERVER } } },
};

/** Complete values of the platform for production. */
export const PRODUCTION = merge(PRODUCTION_FILE, SECOND_FILE);

/** Autoscalers that also count requests per second. */
export const REQUESTS_PER_SECOND = readValues('../examples/autoscaling-requests.yaml');

/** The values for production, with a limit of the requests in flight at the Gateway. */
export const LIMITED = merge(PRODUCTION, readValues('../examples/gateway-limit-traefik.yaml'));

/** Complete values of the platform. */
export const PLATFORMS: Readonly<Record<string, Values>> = {
  defaults: {},
  production: PRODUCTION,
  Rollouts: merge(PRODUCTION, { global: PROGRESSIVE }),
  'F5 NGINX': readValues('../examples/ingress-f5-nginx.yaml'),
  'ingress-nginx': readValues('../examples/ingress-ingress-nginx.yaml'),
  'a Gateway': {
    global: {
      httpRoute: { enabled: true, parentRefs: [{ name: 'public' }] },
      networkPolicy: { from: [GATEWAY] },
    },
  },
  'without any server': {
    trial: OFF,
    ...Object.fromEntries(
      SERVICES.map(({ name, store }) => [
        name,
        store === 'database'
          ? {
              ...{ replicaCount: 1, persistence: { enabled: true } },
              secrets: { DATABASE_URL: { existingSecret: '' } },
            }
          : {
              replicaCount: 1,
              secrets: {
                REDIS_URL: { existingSecret: '' },
                JWT_SECRET: { existingSecret: 'keys' },
              },
            },
      ]),
    ),
  },
  'users only': Object.fromEntries(SERVICE_NAMES.slice(1).map((name) => [name, OFF])),
};

/** Complete values of every chart. */
export const SETS: readonly { chart: string; name: string; values: Values }[] = [
  ...SERVICE_NAMES.flatMap((chart) => {
    const shared = SHARED[chart];
    return [
      { chart, name: 'defaults', values: NEEDED[chart] ?? {} },
      { chart, name: 'all features', values: merge(shared, EVERYTHING) },
      { chart, name: 'a Rollout', values: merge(shared, EVERYTHING, PROGRESSIVE) },
      {
        chart,
        name: 'a release of its own at F5 NGINX',
        values: merge(shared, readValues('../examples/ingress-f5-nginx-releases.yaml')),
      },
    ];
  }),
  { chart: 'common', name: 'a service that is not ours', values: SHOP },
  {
    chart: 'platform',
    name: 'Traefik',
    values: readValues('../examples/ingress-traefik.yaml'),
  },
  { chart: 'platform', name: 'a limit at Traefik', values: LIMITED },
  {
    chart: 'platform',
    name: 'requests per second',
    values: merge(PRODUCTION, REQUESTS_PER_SECOND),
  },
  ...Object.entries(PLATFORMS).map(([name, values]) => ({ chart: 'platform', name, values })),
];
