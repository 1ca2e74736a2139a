/** What is read of a container in the status of its pod. */
interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly state?: ContainerState;
  readonly lastState?: ContainerState;
}

interface ContainerState {
  readonly waiting?: { readonly reason?: string; readonly message?: string };
  readonly running?: object;
  readonly terminated?: { readonly reason?: string; readonly exitCode: number };
}

/** What is read of a pod. */
export interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly ownerReferences?: readonly { readonly kind: string }[];
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase: string;
    readonly podIP?: string;
    readonly startTime?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
    readonly containerStatuses?: readonly ContainerStatus[];
  };
}

/** What is read of an event. */
export interface Event {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** A pod that is not as it should be, or something that could not even make one. */
export interface Trouble {
  readonly name: string;
  /** What it waits for, or how it ended. */
  readonly state: string;
  /** The last thing that the cluster had to say about it. */
  readonly event: string | undefined;
  /** Whose log tells more, and whether that of its last run does. */
  readonly log: { readonly container: string; readonly previous: boolean } | undefined;
}

/** Whether a pod takes requests. */
export function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp) return false;
  return (
    status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  );
}

/** Tells which pods are not ready or were restarted and why, and what could not be made at all. */
export function findTroubles(pods: readonly Pod[], events: readonly Event[]): Trouble[] {
  const ofPods = pods
    .filter((pod) => pod.status.phase !== 'Succeeded' && (!isReady(pod) || restarted(pod)))
    .map((pod) => troubleOf(pod, events));
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
  // Who comes to an end at the second try, as migrations before their database, has done its work.
  return status.containerStatuses?.some(({ restartCount }) => restartCount > 0) ?? false;
}

function troubleOf(pod: Pod, events: readonly Event[]): Trouble {
  const { name, deletionTimestamp } = pod.metadata;
  const { initContainerStatuses = [], containerStatuses = [], phase } = pod.status;
  const culprit =
    initContainerStatuses.find(({ state }) => state?.terminated?.exitCode !== 0) ??
    containerStatuses.find(({ ready, restartCount }) => !ready || restartCount > 0);
  const last = events
    .filter(({ involvedObject }) => involvedObject.kind === 'Pod' && involvedObject.name === name)
    .toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)))
    .at(-1);
  return {
    name: `Pod ${name}`,
    state: deletionTimestamp ? 'is ending' : culprit ? describe(culprit) : `is ${phase}`,
    event: last && `${last.reason}: ${last.message}`,
    log: culprit && hasLog(culprit),
  };
}

function describe({ name, state, lastState, restartCount, ready }: ContainerStatus): string {
  const { waiting, terminated = lastState?.terminated } = state ?? {};
  const parts = [
    waiting && `waits: ${[waiting.reason, waiting.message].filter(Boolean).join(': ')}`,
    terminated && `ended with ${terminated.exitCode} (${terminated.reason ?? 'no reason'})`,
    state?.running && (ready ? 'runs' : 'runs and is not ready'),
    restartCount > 0 && `was restarted ${restartCount} times`,
  ];
  return `container ${name} ${parts.filter(Boolean).join(', ')}`;
}

function hasLog({ name, state, lastState }: ContainerStatus): Trouble['log'] {
  if (lastState?.terminated) return { container: name, previous: true };
  return state?.running || state?.terminated ? { container: name, previous: false } : undefined;
}

function timeOf({ lastTimestamp, eventTime }: Event): string {
  return lastTimestamp ?? eventTime ?? '';
}
