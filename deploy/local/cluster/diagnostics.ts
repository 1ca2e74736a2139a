import type { Cluster } from './cluster.ts';
import { isReady, restartsOf } from './pod.ts';
import { lastLines } from './program.ts';

/** The number of events, and of log lines of each pod. */
const EVENTS = 15;
const LOG_LINES = 5;

/**
 * What kubectl prints about a namespace whose pods do not become ready: its pods, the newest warnings, and the
 * last log lines of each pod that is not ready or was restarted.
 */
export async function describeDiagnostics(cluster: Cluster, namespace: string): Promise<string> {
  const kubectl = (...args: readonly string[]) =>
    // A pod may have been deleted, or may have no log yet.
    cluster.kubectl([...args, '--namespace', namespace]).catch((error: Error) => error.message);
  const unhealthy = (await cluster.pods(namespace)).filter(
    (pod) => pod.status.phase !== 'Succeeded' && (!isReady(pod) || restartsOf(pod) > 0),
  );
  const warnings = await kubectl(
    ...['get', 'events', '--field-selector=type=Warning', '--sort-by=.lastTimestamp'],
    ...['--output=custom-columns=OBJECT:.involvedObject.name,REASON:.reason,MESSAGE:.message'],
  );
  const logs = unhealthy.map(({ metadata: { name } }) =>
    kubectl('logs', name, '--all-containers', '--prefix', `--tail=${LOG_LINES}`),
  );
  const texts = [
    await kubectl('get', 'pods', '--output=wide'),
    lastLines(warnings, EVENTS),
    ...(await Promise.all(logs)),
  ];
  return texts.join('\n');
}
