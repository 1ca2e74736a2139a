import fs from 'node:fs';

/** What is known about requests by their ids. */
export interface KnownRequests {
  readonly isOfRun: (id: string) => boolean;
  /** Whether the client of a request had left at a time of day. */
  readonly hasLeft: (id: string, atMs: number) => boolean;
}

/**
 * The share of the handled requests of a run whose client had left before its response was sent, from the
 * log files of services.
 */
export function wastedShare(files: readonly string[], { isOfRun, hasLeft }: KnownRequests): number {
  let handled = 0;
  let wasted = 0;
  for (const line of files.flatMap((file) => fs.readFileSync(file, 'utf8').split('\n'))) {
    if (!line.startsWith('{')) continue;
    const { requestId, route, status, time } = JSON.parse(line);
    // Requests that were rejected before routing have no route.
    if (!route || status === 503 || !isOfRun(requestId)) continue;
    handled++;
    if (hasLeft(requestId, Date.parse(time))) wasted++;
  }
  return handled === 0 ? 0 : wasted / handled;
}
