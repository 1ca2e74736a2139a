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
    readonly containerStatuses?: readonly { readonly restartCount: number }[];
  };
}

/** Whether a pod receives requests. */
export function isReady({ metadata, status }: Pod): boolean {
  if (metadata.deletionTimestamp) return false;
  return (
    status.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True') ?? false
  );
}

/** The number of restarts of the containers of a pod; init containers do not count. */
export function restartsOf({ status }: Pod): number {
  const counts = status.containerStatuses?.map(({ restartCount }) => restartCount) ?? [];
  return counts.reduce((sum, count) => sum + count, 0);
}
