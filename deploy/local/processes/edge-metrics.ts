/** A replica whose metrics the page of the edge plots. */
export interface MeasuredReplica {
  readonly name: string;
  readonly service: string;
  readonly healthPort: number;
}

/** locations/metrics.conf: the metrics of each replica, below the path of the page. */
export function renderMetrics(replicas: readonly MeasuredReplica[]): string {
  const locations = replicas.map(
    ({ name, healthPort }) => `location = /page/metrics/${name} {
  proxy_pass http://127.0.0.1:${healthPort}/metrics;
  access_log off;
  error_page 502 504 @problem;
}
`,
  );
  return locations.join('');
}

/** page/system.json: the replicas of each service by name, and links to other programs. */
export function renderSystem(
  replicas: readonly MeasuredReplica[],
  links: Readonly<Record<string, string>>,
): string {
  const byService = Object.groupBy(replicas, ({ service }) => service);
  const names = Object.entries(byService).map(([service, ones = []]) => [
    service,
    ones.map(({ name }) => name),
  ]);
  return `${JSON.stringify({ replicas: Object.fromEntries(names), links })}\n`;
}
