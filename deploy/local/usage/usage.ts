import { type Sample, samplesOf, sumBy } from './samples.ts';

/** The most routes that the report lists. */
const MAX_ROUTES = 10;

/** Why a client has one of these names. */
const NOTES: Readonly<Record<string, string>> = {
  none: 'none: clients that send neither X-Client-Id nor User-Agent',
  other: 'other: all clients of a process after its first 100',
};

/** Describes, from the metrics of each process, which clients have used a version of the API. */
export function describeUsage(version: string, metrics: readonly string[]): string {
  const samples = (name: string) => metrics.flatMap((text) => samplesOf(name, text));
  const requests = samples('api_requests_total').filter(
    ({ labels, value }) => labels.version === version && value > 0,
  );
  const counted = describeProcesses(metrics.length, samples('process_start_time_seconds'));
  if (requests.length === 0) return `No client has used ${version} (${counted})\n`;
  const routes = samples('http_requests_total').filter(
    ({ labels }) => labels.route?.startsWith(`/api/${version}/`) === true,
  );
  return [
    `Clients of ${version} (${counted})\n`,
    formatTable(['API', 'Client', 'Requests', 'Share'], clientRows(requests)),
    ...(routes.length > 0 ? [formatTable(['Most requested', 'Requests'], routeRows(routes))] : []),
    ...notesOn(requests),
  ].join('\n');
}

/** When the newest process started, because no process has counted for longer than it runs. */
function describeProcesses(count: number, starts: readonly Sample[]): string {
  const processes = count === 1 ? '1 process' : `${count} processes`;
  if (starts.length === 0) return `counted by ${processes}`;
  const newest = new Date(Math.max(...starts.map(({ value }) => value)) * 1_000);
  const time = newest.toISOString().slice(0, 19).replace('T', ' ');
  return `counted by ${processes}, the newest since ${time} UTC`;
}

function clientRows(requests: readonly Sample[]): string[][] {
  const total = requests.reduce((sum, { value }) => sum + value, 0);
  return sumBy(requests, ({ path, client }) => `${path} ${client}`).map(([key, count]) => [
    ...key.split(' '),
    String(count),
    `${((100 * count) / total).toFixed(1)} %`,
  ]);
}

function routeRows(routes: readonly Sample[]): string[][] {
  return sumBy(routes, ({ method, route }) => `${method} ${route}`)
    .slice(0, MAX_ROUTES)
    .map(([key, count]) => [key, String(count)]);
}

function notesOn(requests: readonly Sample[]): string[] {
  const names = new Set(requests.map(({ labels }) => labels.client));
  const notes = Object.entries(NOTES).filter(([name]) => names.has(name));
  return notes.map(([, note]) => `${note}\n`);
}

/** Aligns columns; those after the names contain numbers, which are aligned to the right. */
function formatTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const firstNumber = head.indexOf('Requests');
  const lines = all.map((row) =>
    row
      .map((cell, column) => {
        const width = widths[column] ?? 0;
        return column < firstNumber ? cell.padEnd(width) : cell.padStart(width);
      })
      .join('  '),
  );
  return `${lines.join('\n')}\n`;
}
