/*
 * Serves the variants that `./<name>.ts` exports: `node server.ts <name>`. For each message from its parent,
 * the name of a variant, it switches to it and sends the CPU time that it has used.
 */
import { type Application, listen } from 'fw';

import type { LoadRequest } from '../http/wrk.ts';
import { serveParent, usedCpuMicros } from '../measured.ts';

/** An application, and what is compared. */
export interface Variants<Name extends string = string> {
  readonly app: Application;
  /** The request of each variant. */
  readonly requests: Readonly<Record<Name, LoadRequest>>;
  /** Called before each turn. */
  readonly switchTo?: (name: Name) => void;
}

/** What the process sends when it listens. */
export interface Ready<Name extends string = string> extends Pick<Variants<Name>, 'requests'> {
  readonly port: number;
}

const { createVariants }: { createVariants: () => Promise<Variants> } = await import(
  `./${process.argv[2]}.ts`
);
const { app, requests, switchTo } = await createVariants();
const { port } = await listen(app, 0);
serveParent({ port, requests } satisfies Ready, (name) => {
  switchTo?.(String(name));
  return usedCpuMicros();
});
