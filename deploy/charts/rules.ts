import {
  integer,
  LIST_PASSED_ON,
  oneOf,
  PASSED_ON,
  type Refusal,
  type Rules,
  saying,
  TEXTS,
  textLike,
} from './schema.ts';

const PORT = integer(1, 65_535);
const PORTS = { type: 'array', items: PORT };
const QUANTITY = textLike('^[0-9]+(\\.[0-9]+)?(k|M|G|T|Ki|Mi|Gi|Ti)?$', 'a quantity such as 1Gi');
const HOST_NAME = '([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)*[a-z0-9]([a-z0-9-]*[a-z0-9])?';
const AMOUNT = {
  type: ['string', 'number'],
  if: { pattern: '^[0-9]+(\\.[0-9]+)?(m|k|M|G|Ki|Mi|Gi)?$' },
  else: saying('a quantity such as 100m or 128Mi'),
};
const RESOURCES = {
  type: 'object',
  properties: { cpu: AMOUNT, memory: AMOUNT, 'ephemeral-storage': AMOUNT },
  additionalProperties: false,
};

/** What every chart around an image says of it. */
export const IMAGE_RULES: Rules = {
  'image.repository': textLike('^[a-z0-9][a-z0-9._/-]*$', 'the name of an image, without its tag'),
  'image.tag': textLike('^([A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?$', 'the tag of an image'),
  'image.digest': textLike('^(sha256:[0-9a-f]{64})?$', 'sha256: and 64 hexadecimal digits'),
  'image.pullPolicy': oneOf('Always', 'IfNotPresent', 'Never'),
  'image.pullSecrets': { type: 'array', items: { type: 'string' } },
};

/** What every chart says of an ingress and of a gateway. */
export const ENTRY_RULES: Rules = {
  'ingress.controller': oneOf('f5-nginx', 'ingress-nginx', 'none'),
  'ingress.host': textLike(`^(${HOST_NAME})?$`, 'a host name such as api.example.org'),
  'ingress.annotations': TEXTS,
  'httpRoute.parentRefs': {
    type: 'array',
    items: { ...PASSED_ON, required: ['name'] },
  },
  'httpRoute.hostnames': {
    type: 'array',
    items: textLike(`^(\\*\\.)?${HOST_NAME}$`, 'a host name such as api.example.org'),
  },
};

/** What a platform says of the NetworkPolicies of all its services. */
export const POLICY_RULES: Rules = {
  'networkPolicy.from': LIST_PASSED_ON,
  'networkPolicy.monitoringFrom': LIST_PASSED_ON,
  'networkPolicy.dnsTo': LIST_PASSED_ON,
  'networkPolicy.dnsPorts': PORTS,
};

/** What every service's chart asks of its values. */
export const SERVICE_RULES: Rules = {
  ...IMAGE_RULES,
  ...ENTRY_RULES,
  replicas: integer(1),
  'termination.preStopSeconds': integer(0, 600),
  'termination.gracePeriodSeconds': integer(0, 3_600),
  startupSeconds: integer(1),
  resources: {
    type: 'object',
    properties: { requests: RESOURCES, limits: RESOURCES },
    additionalProperties: false,
  },
  'autoscaling.minReplicas': integer(1),
  'autoscaling.maxReplicas': integer(1),
  'autoscaling.cpuPercent': integer(1),
  'autoscaling.behavior': PASSED_ON,
  'topologySpread.nodes': oneOf('ScheduleAnyway', 'DoNotSchedule'),
  'topologySpread.zones': oneOf('ScheduleAnyway', 'DoNotSchedule'),
  nodeSelector: TEXTS,
  tolerations: LIST_PASSED_ON,
  affinity: PASSED_ON,
  podLabels: TEXTS,
  podAnnotations: TEXTS,
  podSecurityContext: PASSED_ON,
  'serviceAccount.annotations': TEXTS,
  ...POLICY_RULES,
  'networkPolicy.dnsPorts': { ...PORTS, minItems: 1 },
  'networkPolicy.databaseTo': LIST_PASSED_ON,
  'networkPolicy.redisTo': LIST_PASSED_ON,
  'networkPolicy.jwksTo': LIST_PASSED_ON,
  'networkPolicy.upstreamsTo': LIST_PASSED_ON,
  'networkPolicy.collectorTo': LIST_PASSED_ON,
  'networkPolicy.egress': LIST_PASSED_ON,
  'httpRoute.weight': integer(0, 1_000_000),
  'httpRoute.others': {
    type: 'array',
    items: {
      type: 'object',
      properties: { name: { type: 'string' }, port: PORT, weight: integer(0, 1_000_000) },
      required: ['name', 'weight'],
      additionalProperties: false,
    },
  },
  'metrics.serviceMonitor.interval': textLike('^[0-9]+(ms|s|m|h)$', 'a duration such as 30s'),
  'metrics.serviceMonitor.labels': TEXTS,
  'metrics.prometheusRule.labels': TEXTS,
  'metrics.prometheusRule.errorShare': { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  'metrics.prometheusRule.p99Seconds': { type: 'number', exclusiveMinimum: 0 },
  'metrics.dashboard.labels': TEXTS,
  'store.type': oneOf('sqlite', 'postgres'),
  'store.sqlite.size': QUANTITY,
  'store.postgres.port': PORT,
  'rateLimit.store': oneOf('memory', 'redis'),
  'rateLimit.redis.port': PORT,
  'jwt.algorithm': oneOf('RS256', 'ES256', 'EdDSA'),
  'jwt.jwksUrl': textLike('^(https?://.+)?$', 'a URL that begins with https:// or http://'),
};

/** A store that one pod holds for itself cannot be shared by several. */
export const STORE_REFUSALS = singleHolder(['store', 'type'], {
  alone: 'sqlite',
  because: 'because store.type sqlite keeps the data in one pod (several need postgres)',
});

/** Limits that each pod counts by itself let through a multiple of what they should. */
export const LIMITS_REFUSALS = singleHolder(['rateLimit', 'store'], {
  alone: 'memory',
  because: 'because rateLimit.store memory counts in each pod by itself (several need redis)',
});

function singleHolder(
  path: readonly string[],
  { alone, because }: { readonly alone: string; readonly because: string },
): readonly Refusal[] {
  const isAlone = path.reduceRight<object>((inner, key) => ({ properties: { [key]: inner } }), {
    const: alone,
  });
  const holds = (properties: object) => ({ allOf: [isAlone, { properties }] });
  return [
    {
      when: holds({ replicas: { type: 'integer', minimum: 2 } }),
      path: ['replicas'],
      expected: `1, ${because}`,
    },
    {
      when: holds({ autoscaling: { properties: { enabled: { const: true } } } }),
      path: ['autoscaling', 'enabled'],
      expected: `false, ${because}`,
    },
  ];
}
