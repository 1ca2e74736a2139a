import { expect, onTestFinished, test } from 'vitest';

import { ensureTool } from '../../../tools/programs.ts';
import { startTrialSystem } from '../testing/trial-system.ts';
import { issueToken, readOrCreateSecret } from '../token.ts';
import { observerLinks, observerPorts } from './observers.ts';
import { QUERIES } from './prometheus.ts';

/** A span in the format of Zipkin (https://zipkin.io/zipkin-api/). */
interface ZipkinSpan {
  readonly id: string;
  readonly parentId?: string;
  readonly localEndpoint: { readonly serviceName: string };
  readonly remoteEndpoint?: { readonly serviceName: string };
}

/** The alert rules of Prometheus. */
interface Rules {
  readonly data: {
    readonly groups: readonly {
      readonly rules: readonly { readonly name: string; readonly query: string }[];
    }[];
  };
}

const [TRACE, PARENT] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
const WAIT = { timeout: 60_000, interval: 500 };

/** The JSON at `address`; `undefined` if it does not exist yet. */
async function read<T>(address: string): Promise<T | undefined> {
  const response = await fetch(address);
  return response.ok ? ((await response.json()) as T) : undefined;
}

/** Each span as the services on the way from the first span of the trace to it. */
function chainsOf(spans: readonly ZipkinSpan[] = []): readonly string[] {
  const nameOf = ({ localEndpoint, remoteEndpoint }: ZipkinSpan) =>
    [localEndpoint, ...(remoteEndpoint ? [remoteEndpoint] : [])]
      .map(({ serviceName }) => serviceName)
      .join(' to ');
  const chainOf = (span: ZipkinSpan): string => {
    const parent = spans.find(({ id }) => id === span.parentId);
    return parent ? `${chainOf(parent)} > ${nameOf(span)}` : nameOf(span);
  };
  return spans.map(chainOf);
}

test('make observe shows a request from a service to the databases, and the rates of the services', {
  timeout: 240_000,
}, async () => {
  for (const program of ['prometheus', 'java', 'maven', 'statsd_exporter', 'helm'])
    ensureTool(program);
  const { origin, port, folders, stop } = await startTrialSystem({}, { observe: true });
  onTestFinished(stop);
  const secret = readOrCreateSecret(folders.run);
  const token = issueToken({ secret, user: 'ada', tier: 'free' });
  const ports = observerPorts(port);
  const zipkin = `http://127.0.0.1:${ports.zipkin}`;

  const response = await fetch(`${origin}/api/v2/reports/overview`, {
    headers: { Authorization: `Bearer ${token}`, traceparent: `00-${TRACE}-${PARENT}-01` },
  });

  expect(response.status).toBe(200);
  const readTrace = () => read<readonly ZipkinSpan[]>(`${zipkin}/api/v2/trace/${TRACE}`);
  await expect
    .poll(async () => chainsOf(await readTrace()), WAIT)
    .toEqual(
      expect.arrayContaining([
        'reports > reports > users > users to sqlite',
        'reports > reports > catalog > catalog to sqlite',
      ]),
    );
  const query = async (text: string) => {
    const search = new URLSearchParams({ query: text });
    const address = `http://127.0.0.1:${ports.prometheus}/api/v1/query?${search}`;
    const result = await read<{ data: { result: readonly { metric: object }[] } }>(address);
    return result?.data.result.map(({ metric }) => metric);
  };
  for (const text of QUERIES) {
    await expect
      .poll(() => query(text), WAIT)
      .toContainEqual({ service: 'fw-reports-metrics', version: 'v2' });
  }
  const served = 'edge_http_requests_total{upstream="reports",status="200",source="service"}';
  await expect
    .poll(() => query(`sum by (service, pod) (${served})`), WAIT)
    .toEqual([{ service: 'fw-edge-metrics', pod: 'edge' }]);
  const { data } = (await read<Rules>(`http://127.0.0.1:${ports.prometheus}/api/v1/rules`)) ?? {};
  const alerts = data?.groups.flatMap(({ rules }) =>
    rules.map(({ name, query: text }) => ({ name, text })),
  );
  for (const service of ['users', 'catalog', 'reports']) {
    expect(alerts).toContainEqual({
      name: 'ServiceUnavailable',
      text: expect.stringContaining(`namespace="local",service="fw-${service}-metrics"`),
    });
  }
  const system = await read<{ links: object }>(`${origin}/page/system.json`);
  expect(system?.links).toEqual(observerLinks(port));
});
