import fs from 'node:fs';
import path from 'node:path';

import { ENTRY_RULES, IMAGE_RULES, POLICY_RULES } from './rules.ts';
import {
  integer,
  LIST_PASSED_ON,
  oneOf,
  PASSED_ON,
  type Rules,
  type Schema,
  schemaOf,
  TEXTS,
  tellingNames,
  textLike,
  toJson,
} from './schema.ts';
import { readValues, withTable } from './values.ts';

/** The charts of the services, whose own schemas judge what stands below their names. */
const SERVICES = ['users', 'catalog', 'reports'];

const SERVICE: Schema = {
  type: 'object',
  properties: { enabled: { type: 'boolean' } },
  required: ['enabled'],
};
const PORT = integer(1, 65_535);
const QUANTITY = textLike('^[1-9][0-9]*(Mi|Gi|Ti)$', 'a quantity such as 1Gi');

/** What the pods of the platform's own are, each part of it. */
const POD_RULES: Rules = {
  ...IMAGE_RULES,
  'image.tag': textLike('^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$', 'the tag of an image'),
  resources: PASSED_ON,
  podSecurityContext: PASSED_ON,
  nodeSelector: TEXTS,
  tolerations: LIST_PASSED_ON,
  affinity: PASSED_ON,
};

const RULES: Rules = {
  ...Object.fromEntries(SERVICES.map((name) => [name, SERVICE])),
  ...below('global', { ...ENTRY_RULES, ...POLICY_RULES }),
  'global.image': {
    type: 'object',
    properties: {
      registry: { type: 'string' },
      tag: IMAGE_RULES['image.tag'],
      pullPolicy: IMAGE_RULES['image.pullPolicy'],
      pullSecrets: IMAGE_RULES['image.pullSecrets'],
    },
    additionalProperties: false,
  },
  'ingress.annotations': TEXTS,
  ...below('edge', POD_RULES),
  ...below('postgres', POD_RULES),
  ...below('valkey', POD_RULES),
  'edge.replicas': integer(1),
  'edge.service.type': oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
  'edge.service.port': PORT,
  'edge.service.nodePort': integer(0, 65_535),
  'edge.service.externalTrafficPolicy': oneOf('', 'Cluster', 'Local'),
  'edge.service.annotations': TEXTS,
  'edge.endingSeconds': integer(1, 300),
  'edge.allowFrom': LIST_PASSED_ON,
  'edge.dnsTo': LIST_PASSED_ON,
  'edge.dnsPorts': { type: 'array', items: PORT, minItems: 1 },
  'postgres.storage.size': QUANTITY,
  'postgres.settings': {
    type: 'object',
    additionalProperties: { type: ['string', 'integer', 'boolean'] },
  },
  'valkey.maxMemory': textLike('^[1-9][0-9]*(mb|gb)$', 'a quantity such as 64mb'),
};

function below(name: string, rules: Rules): Rules {
  return Object.fromEntries(Object.entries(rules).map(([key, rule]) => [`${name}.${key}`, rule]));
}

/** What Helm hands to the library chart: there is nothing to set. */
const ADDED: Schema = {
  service: {
    type: 'object',
    properties: { global: { type: 'object' } },
    additionalProperties: false,
  },
};

/** The files of the platform's chart that are made from its values, by their path below `charts`. */
export function platformFiles(charts: string): Record<string, string> {
  const values = readValues(path.join(charts, 'platform'));
  const schema = schemaOf({
    title: 'Values of the chart platform',
    values,
    rules: RULES,
    added: ADDED,
  });
  // Their values are what the charts' own READMEs tell.
  const shown = values.map((value) =>
    SERVICES.includes(value.path.join('.')) ? { ...value, default: '' } : value,
  );
  const readme = path.join('platform', 'README.md');
  return {
    [path.join('platform', 'values.schema.json')]: toJson(tellingNames(schema)),
    [readme]: withTable(fs.readFileSync(path.join(charts, readme), 'utf8'), shown),
  };
}
