/*
 * The process of one router with one set of routes: `node server.ts <router> <size>`. It answers
 * each message with the nanoseconds of processor time that a lookup of each kind took.
 */
import type { RouterContestant, RouterUnderTest } from './contestant.ts';
import { createPathSource } from './paths.ts';
import { createRoutes, createTargets, KINDS, type Kind, type Target } from './routes.ts';

const BATCH_MS = 40;
/** Many for each path: some routers have code of their own for each route, which is compiled late. */
const WARMUP_PER_PATH = 400;
const WARMUP_MS = 1_000;
const CHUNK_LOOKUPS = 1_000;

/** The lengths of what a handler of each kind reads. */
const READ: Readonly<Record<Kind, (router: RouterUnderTest<unknown>, match: unknown) => number>> = {
  static: () => 0,
  parameter: (router, match) => length(router.id(match)),
  '3 parameters in 6 segments': (router, match) =>
    length(router.id(match)) + length(router.orderId(match)) + length(router.itemId(match)),
  wildcard: (router, match) => length(router.rest(match)),
  miss: () => 0,
};

function length(text: string | undefined): number {
  return text === undefined ? 0 : text.length;
}

interface Batch {
  readonly kind: Kind;
  readonly nextPath: () => string;
  readonly warmupLookups: number;
}

const [name, sizeText] = process.argv.slice(2);
if (!name || !sizeText || !process.send) {
  throw new Error('Usage: server.ts <router> <size>, forked with a channel to its parent');
}
const send = process.send.bind(process);

const routes = createRoutes(Number(sizeText));
const contestant: RouterContestant = await import(`./contestants/${name}.ts`);
const router = contestant.create(routes);
const targets = KINDS.map((kind) => createTargets(kind, routes));
if (name !== 'empty') for (const target of targets.flat()) check(router, target);

const batches = KINDS.map((kind, index): Batch => {
  const paths = (targets[index] ?? []).map(({ path }) => path);
  const warmupLookups = paths.length * WARMUP_PER_PATH;
  return { kind, nextPath: createPathSource(paths), warmupLookups };
});
// Two passes: what a kind teaches the compiler, the others have to live with, as in a server.
for (const batch of batches) warmUp(batch);
const sized = batches.map((batch) => ({
  ...batch,
  lookups: Math.ceil((BATCH_MS * 1e6) / warmUp(batch)),
}));

process.on('disconnect', () => process.exit());
process.on('message', () => send(sized.map((batch) => nanosPerLookup(batch, batch.lookups))));
send('ready');

/** Returns the nanoseconds of a lookup at the end. */
function warmUp(batch: Batch): number {
  const end = performance.now() + WARMUP_MS;
  let nanos = 0;
  for (let done = 0; done < batch.warmupLookups && performance.now() < end; done += CHUNK_LOOKUPS) {
    nanos = nanosPerLookup(batch, CHUNK_LOOKUPS);
  }
  return nanos;
}

function nanosPerLookup({ kind, nextPath }: Batch, lookups: number): number {
  const before = process.cpuUsage();
  lookUp(nextPath, READ[kind], lookups);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) * 1e3) / lookups;
}

/** The sum is returned so that nothing of it can be left out. */
function lookUp(nextPath: () => string, read: (typeof READ)[Kind], lookups: number): number {
  let sum = 0;
  for (let lookup = 0; lookup < lookups; lookup++) {
    const match = router.find('GET', nextPath());
    if (match) sum += router.routeOf(match).path.length + read(router, match);
  }
  return sum;
}

/** Before anything is measured: the right route, and the right values. */
function check(router: RouterUnderTest<unknown>, { path, route, values }: Target): void {
  const match = router.find('GET', path);
  const found = match ? router.routeOf(match).path : undefined;
  if (found !== route?.path) throw new Error(`${path} finds ${found} instead of ${route?.path}`);
  if (!match || !route) return;
  const readers =
    route.kind === 'wildcard' ? [router.rest] : [router.id, router.orderId, router.itemId];
  for (const [index, value] of values.entries()) {
    const read = readers[index]?.(match);
    if (read !== value) throw new Error(`${path} reads "${read}" instead of "${value}"`);
  }
}
