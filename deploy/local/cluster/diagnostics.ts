import type { Cluster } from './cluster.ts';
import { type ContainerStatus, type Event, isReady, type Pod } from './pod.ts';
import { lastLines } from './program.ts';

/** An unhealthy pod, or a controller that cannot create pods. */
export interface Diagnostic {
  /** The kind and the name of the object. */
  readonly name: string;
  /** What it waits for, or how it ended. */
  readonly state: string;
  /** The newest event of the object. */
  readonly event: string | undefined;
  /** The container whose log explains the state; `previous` for the log of its last run. */
  readonly log: { readonly container: string; readonly previous: boolean } | undefined;
}

/** Returns the pods that are not ready or were restarted, and the controllers with warnings. */
export function findDiagnostics(pods: readonly Pod[], events: readonly Event[]): Diagnostic[] {
  const ofPods = pods
    .filter((pod) => pod.status.phase !== 'Succeeded' && (!isReady(pod) || restarted(pod)))
    .map((pod) => diagnosticOf(pod, events));
  const ofOthers = events
    .filter(({ involvedObject, type }) => involvedObject.kind !== 'Pod' && type === 'Warning')
    .map(({ involvedObject: { kind, name }, reason, message }) => ({
      name: `${kind} ${name}`,
      state: 'has a warning',
      event: `${reason}: ${message}`,
      log: undefined,
    }));
  return [...ofPods, ...new Map(ofOthers.map((one) => [one.name, one])).values()];
}

function restarted({ status }: Pod): boolean {
  // Init containers may be restarted: migrations fail until the database is ready.
  return status.containerStatuses?.some(({ restartCount }) => restartCount > 0) ?? false;
}

function diagnosticOf(pod: Pod, events: readonly Event[]): Diagnostic {
  const { name, deletionTimestamp } = pod.metadata;
  const { initContainerStatuses = [], containerStatuses = [], phase } = pod.status;
  const failing =
    initContainerStatuses.find(({ ready }) => !ready) ??
    containerStatuses.find(({ ready, restartCount }) => !ready || restartCount > 0);
  const last = events
    .filter(({ involvedObject }) => involvedObject.kind === 'Pod' && involvedObject.name === name)
    .toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)))
    .at(-1);
  return {
    name: `Pod ${name}`,
    state: deletionTimestamp ? 'is ending' : failing ? describe(failing) : `is ${phase}`,
    event: last && `${last.reason}: ${last.message}`,
    log: failing && hasLog(failing),
  };
}

function describe(status: ContainerStatus): string {
  const { name, state, lastState, restartCount, ready } = status;
  const { waiting, terminated = lastState?.terminated } = state ?? {};
  const parts = [
    waiting && `waits: ${[waiting.reason, waiting.message].filter(Boolean).join(': ')}`,
    waiting && pullHint(status),
    terminated && `ended with ${terminated.exitCode} (${terminated.reason ?? 'no reason'})`,
    state?.running && (ready ? 'runs' : 'runs and is not ready'),
    restartCount > 0 && `was restarted ${restartCount} times`,
  ];
  return `container ${name} ${parts.filter(Boolean).join(', ')}`;
}

/** What to set if nodes cannot pull an image whose name begins with no registry. */
function pullHint({ image, state }: ContainerStatus): string | undefined {
  const cannotPull = /^(ErrImagePull|ImagePullBackOff)$/.test(state?.waiting?.reason ?? '');
  if (!image || !cannotPull || /^([^/]*[.:][^/]*|localhost)\//.test(image)) return undefined;
  return `pulls ${image} from the default registry of the node: set IMAGE_PREFIX, or image.registry of the chart`;
}

function hasLog({ name, state, lastState }: ContainerStatus): Diagnostic['log'] {
  if (lastState?.terminated) return { container: name, previous: true };
  return state?.running || state?.terminated ? { container: name, previous: false } : undefined;
}

function timeOf({ lastTimestamp, eventTime }: Event): string {
  return lastTimestamp ?? eventTime ?? '';
}

/** Describes the unhealthy pods of a namespace, each with its newest event and last log lines. */
export async function describeDiagnostics(cluster: Cluster, namespace: string): Promise<string> {
  const diagnostics = findDiagnostics(
    await cluster.pods(namespace),
    await cluster.events(namespace),
  );
  const texts = await Promise.all(
    diagnostics.map(async ({ name, state, event, log }) => {
      const lines = log ? await readLog(cluster, { namespace, pod: name, ...log }) : '';
      return [`${name} ${state}`, event && `last event: ${event}`, lines]
        .filter(Boolean)
        .join('\n')
        .replaceAll('\n', '\n  ');
    }),
  );
  return texts.join('\n');
}

interface LogOptions {
  readonly namespace: string;
  /** `Pod`, and its name. */
  readonly pod: string;
  readonly container: string;
  readonly previous: boolean;
}

async function readLog(cluster: Cluster, { namespace, pod, container, previous }: LogOptions) {
  try {
    const log = await cluster.kubectl([
      ...['logs', '--namespace', namespace, pod.replace('Pod ', ''), '--container', container],
      ...['--tail=5', `--previous=${previous}`],
    ]);
    return log && `last lines of its log:\n${lastLines(log, 5)}`;
  } catch (error) {
    // The pod may have been deleted.
    return error instanceof Error ? `without a log: ${error.message.split('\n')[0]}` : '';
  }
}
