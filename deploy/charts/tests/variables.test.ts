import fs from 'node:fs';
import path from 'node:path';

import { type AnyVariables, readConfig } from '@fw/service';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { charts, only, podOf, type Values, variablesOf } from './render.ts';
import { merge, NEEDED } from './values.ts';

/** The pod of a service with `values`. */
const podWith = (name: string, values: Values) =>
  podOf(charts.render(name, merge(NEEDED[name], values)), `fw-${name}`);

/** What a service reads from the variables of its chart. */
async function readVariables(name: string, values: Values): Promise<Values> {
  const file = path.resolve(import.meta.dirname, `../../../services/${name}/src/config.ts`);
  const { VARIABLES }: { VARIABLES: AnyVariables } = await import(file);
  const variables = Object.entries(variablesOf(podWith(name, values).containers[0]));
  // There are no Secrets here.
  return readConfig(
    VARIABLES,
    Object.fromEntries(variables.filter(([key]) => !key.endsWith('_FILE'))),
  );
}

test.each(SERVICE_NAMES)('the service %s accepts all variables of its chart', async (name) => {
  const config = { LOG_LEVEL: 'debug', V1_SUNSET: '2027-12-31', OTEL_EXPORTER_OTLP_ENDPOINT: '' };

  expect(await readVariables(name, { config })).toMatchObject({
    ...{ LOG_LEVEL: 'debug', V1_SUNSET: expect.anything(), TRUST_PROXY: 1 },
    SERVICE_VERSION: '0.1.0',
  });
});

test('a service of create-fw --chart accepts all variables of its values file', async () => {
  const template = path.resolve(import.meta.dirname, '../../../framework/create/template');
  const values = parse(fs.readFileSync(`${template}/deploy/values.yaml`, 'utf8'));
  const enabled = {
    ingress: { enabled: true },
    metrics: { serviceMonitor: { enabled: true }, prometheusRule: { enabled: true } },
  };
  const objects = charts.render('common', merge(values, enabled));
  const { VARIABLES } = await import(`${template}/src/config.ts`);
  const variables = variablesOf(podOf(objects, 'fw-my-service').containers[0]);

  expect(readConfig(VARIABLES, variables)).toMatchObject({
    ...{ SERVICE_VERSION: '0.1.0', TRUST_PROXY: 1, REQUEST_TIMEOUT_MS: 20_000 },
    DRAIN_TIMEOUT_MS: 28_000,
  });
  expect(JSON.stringify(only(objects, 'PrometheusRule'))).toContain('/api/v1/tasks/:id');
});

test('traces have the Kubernetes attributes of their pod', () => {
  const { env } = podWith('users', {}).containers[0];
  const names = env.map(({ name }: { name: string }) => name);

  expect(env.slice(0, 2)).toEqual([
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
    { name: 'NODE_NAME', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } },
  ]);
  expect(names.indexOf('OTEL_RESOURCE_ATTRIBUTES')).toBeGreaterThan(1);
  expect(variablesOf(podWith('users', {}).containers[0]).OTEL_RESOURCE_ATTRIBUTES).toBe(
    'k8s.namespace.name=trial,k8s.node.name=$(NODE_NAME),k8s.pod.name=$(POD_NAME),k8s.container.name=users,service.instance.id=trial.$(POD_NAME).users',
  );
});

test.each(SERVICE_NAMES)('a pod of %s ends no earlier than its longest request', async (name) => {
  const values = { requestTimeoutSeconds: 45 };
  const { REQUEST_TIMEOUT_MS, DRAIN_TIMEOUT_MS, DRAIN_DELAY_MS, DRAIN_IDLE_MS } =
    await readVariables(name, values);
  const { containers, terminationGracePeriodSeconds } = podWith(name, values);

  expect(REQUEST_TIMEOUT_MS).toBe(45_000);
  // Drain delay, idle connections, the longest request, 2 s to close.
  expect(DRAIN_TIMEOUT_MS).toBe(Number(DRAIN_DELAY_MS) + Number(DRAIN_IDLE_MS) + 45_000 + 2_000);
  expect(containers[0].lifecycle.preStop).toEqual({ sleep: { seconds: 5 } });
  // preStop, the drain, and a margin for a slow node.
  expect(terminationGracePeriodSeconds).toBe(5 + Number(DRAIN_TIMEOUT_MS) / 1_000 + 2);
});

test.each([
  [10_485_760, '10485760'],
  [0.25, '0.25'],
  [0.000_01, '0.00001'],
  [-1.5, '-1.5'],
  [0, '0'],
  [true, 'true'],
  ['007', '007'],
  ['{{ .Release.Namespace }}', 'trial'],
  ['', undefined],
])('the value %j is the variable %j', (value, text) => {
  const { containers } = podWith('users', { config: { ANY: value } });

  expect(variablesOf(containers[0]).ANY).toBe(text);
});

test('a misspelled variable, and one of another service, end the start of the service', async () => {
  await expect(
    readVariables('users', { config: { LOG_LEVLE: 'debug', RATE_LIMIT_FREE: 5 } }),
  ).rejects.toThrow(
    'LOG_LEVLE is not known: did you mean LOG_LEVEL?; RATE_LIMIT_FREE is not a variable',
  );
});
