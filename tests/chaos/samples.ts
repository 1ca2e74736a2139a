/** One sample of a metric: its labels and its value. */
export interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** Reads the samples of the metric `name` from the text format of Prometheus. */
export function samplesOf(name: string, text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, metric, labels = '', value] = /^([\w:]+)(?:\{(.*)\})? (\S+)/.exec(line) ?? [];
    return metric === name ? [{ labels: readLabels(labels), value: Number(value) }] : [];
  });
}

function readLabels(text: string): Record<string, string> {
  const labels = text.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g);
  return Object.fromEntries([...labels].map(([, name = '', value = '']) => [name, value]));
}

/** The sum of the samples for each value of `keyOf`, largest first. */
export function sumBy(
  samples: readonly Sample[],
  keyOf: (labels: Sample['labels']) => string,
): [key: string, sum: number][] {
  const sums = new Map<string, number>();
  for (const { labels, value } of samples) {
    const key = keyOf(labels);
    sums.set(key, (sums.get(key) ?? 0) + value);
  }
  return [...sums].sort(([, one], [, other]) => other - one);
}
