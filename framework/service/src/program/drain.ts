import type { Middleware } from 'fw';

/** Whether the process is shutting down. */
export interface Drain {
  readonly isDraining: boolean;
  begin(): void;
  /** Middleware that sets `Connection: close` on responses while the process is shutting down. */
  readonly closeConnections: Middleware;
}

/** Creates a drain that has not begun. */
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
