import { readMetrics } from '../metrics.ts';

/** What a process of a service holds. */
export interface Resources {
  /** Open files and connections. */
  readonly fileDescriptors: number;
  readonly handles: number;
  readonly requestsInFlight: number;
  /** Connections of the database pools that are in use, and calls that wait for one. */
  readonly poolUse: number;
  /** Memory of JavaScript objects. */
  readonly heapMiB: number;
}

/** Reads the resources of a process from its metrics. */
export async function readResources(healthUrl: string): Promise<Resources> {
  const sum = await readMetrics(healthUrl);
  return {
    fileDescriptors: sum('process_open_fds'),
    handles: sum('nodejs_active_handles_total'),
    requestsInFlight: sum('http_server_active_requests'),
    poolUse:
      sum('db_client_connection_count', /state="used"/) +
      sum('db_client_connection_pending_requests'),
    heapMiB: sum('nodejs_heap_size_used_bytes') / 1024 ** 2,
  };
}

/** What the process holds beyond `before`, in words; empty if nothing. */
export function describeExcess(now: Resources, before: Resources = now): string {
  return [
    now.requestsInFlight > 0 && `${now.requestsInFlight} requests in flight`,
    now.poolUse > 0 && `${now.poolUse} pool connections in use`,
    now.fileDescriptors > before.fileDescriptors && `${now.fileDescriptors} file descriptors`,
    now.handles > before.handles && `${now.handles} handles`,
  ]
    .filter(Boolean)
    .join(', ');
}
