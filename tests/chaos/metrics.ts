/** With this value of `NODE_OPTIONS`, a process collects its garbage before its metrics are read. */
export const NODE_OPTIONS = `--expose-gc --import=${new URL('collect-garbage.ts', import.meta.url)}`;

/** The sum of the samples of a metric, or of those whose labels match `labels`. */
export type Metrics = (name: string, labels?: RegExp) => number;

/** Reads the metrics of the process whose health server has this address. */
export async function readMetrics(healthUrl: string): Promise<Metrics> {
  const headers = { connection: 'close' };
  const response = await fetch(new URL('/metrics', healthUrl), { headers });
  const lines = (await response.text()).split('\n');
  return (name, labels = /^/) =>
    lines.reduce((sum, line) => {
      const [, metric, own = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
      return metric === name && labels.test(own) ? sum + Number(value) : sum;
    }, 0);
}
