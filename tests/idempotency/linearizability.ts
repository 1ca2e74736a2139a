/** A request to create something, and its response; times are in the order of the events. */
export interface Operation {
  /** What the client asks for. */
  readonly content: string;
  readonly call: number;
  readonly return: number;
  readonly status: number;
  /** What was created, by the response. */
  readonly value?: string | undefined;
}

/** What the key stands for: nothing yet, or what was created for a content. */
type State = { readonly content: string; readonly value: string } | undefined;

/** The result of an operation on one key that runs alone; `illegal` if its response is impossible. */
function step(state: State, { content, status, value = '' }: Operation): State | 'illegal' {
  const isFirst = state === undefined;
  const isOther = state !== undefined && state.content !== content;
  switch (status) {
    case 201:
      if (isFirst) return { content, value };
      return state.content === content && state.value === value ? state : 'illegal';
    case 422:
      return isOther ? state : 'illegal';
    case 500: // the handler failed, and had no effect
      return isFirst ? undefined : 'illegal';
    case 409: // in use for too long: the client does not know more
      return state;
    default:
      return 'illegal';
  }
}

/**
 * Whether there is an order of the operations on one key, consistent with their times, in which each has
 * its response, and after which `effects` is exactly what exists (Wing and Gong, 1993).
 */
export function isLinearizable(
  operations: readonly Operation[],
  effects: readonly string[],
): boolean {
  const failed = new Set<string>();

  function search(rest: readonly Operation[], state: State): boolean {
    if (rest.length === 0) return effects.join() === (state?.value ?? '');
    const memo = `${rest.map(({ call }) => call).join()} ${state?.content} ${state?.value}`;
    if (failed.has(memo)) return false;
    const firstReturn = Math.min(...rest.map((operation) => operation.return));
    for (const operation of rest) {
      if (operation.call > firstReturn) continue; // another one had ended before it began
      const next = step(state, operation);
      if (next === 'illegal') continue;
      if (
        search(
          rest.filter((other) => other !== operation),
          next,
        )
      )
        return true;
    }
    failed.add(memo);
    return false;
  }

  return search(operations, undefined);
}
