/** The fields of a container status that are read here. */
export interface ContainerStatus {
  readonly name: string;
  readonly image?: string;
  /** Of an init container: whether it has succeeded, or runs as a sidecar. */
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

/** The fields of a pod that are read here. */
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

/** The fields of an event that are read here. */
export interface Event {
  readonly involvedObject: { readonly kind: string; readonly name: string };
  readonly type: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTimestamp?: string | null;
  readonly eventTime?: string | null;
}

/** Whether a pod receives requests. */
export function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp) return false;
  return (
    status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  );
}
