import type { Middleware } from 'fw';

/** Whether a process has been told to end, and what its answers say from then on. */
export interface Drain {
  readonly isDraining: boolean;
  begin(): void;
  /** Asks clients to take another connection for their next request, once draining has begun. */
  readonly closeConnections: Middleware;
}

/** Creates the switch that a process turns once, when it is told to end. */
export function createDrain(): Drain {
  let isDraining = false;
  return {
    get isDraining() {
      return isDraining;
    },
    begin() {
      isDraining = true;
    },
    closeConnections(ctx, next) {
      if (isDraining) ctx.set('Connection', 'close');
      return next();
    },
  };
}
